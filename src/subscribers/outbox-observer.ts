import type { Attempt, DeadEvent } from './dead-event.js';
import type { JobEvent } from './receiver-event.js';

/** Receives the results of events of one subscriber. */
export interface SenderObserver {
  sent(event: JobEvent): void;
  dead(dead: DeadEvent): void;
  breaker(isOpen: boolean, last: Attempt | null): void;
}

/** Receives the results of all subscribers, for logs and metrics. */
export interface OutboxObserver {
  events(subscriber: string): SenderObserver;
  /** Called with a temporary error that delays a sender; it retries by itself. */
  delayed(subscriber: string, error: unknown, hour: string | null): void;
  /** Called when this process starts and stops sending. */
  sending(subscriber: string, isSending: boolean): void;
}
