import type { EventFilter } from './job-event.js';
import type { EventFormat } from './send/event-body.js';

/** A subscriber as the configuration has it. */
export interface Subscriber extends EventFilter {
  readonly url: string;
  readonly secrets: readonly string[];
  readonly format: EventFormat;
  readonly maxInFlight: number;
  /** Milliseconds for one request, from connecting to the end of the response. Default 15 s. */
  readonly requestTimeout?: number;
}

/** Scheme, host and port of its address, for people; the rest may be a secret. */
export function originOf({ url }: Pick<Subscriber, 'url'>): string {
  return new URL(url).origin;
}
