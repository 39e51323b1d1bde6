import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { WholeAnswer } from './answer-parser.js';
import type { WireRequest } from './wire-request.js';

/**
 * undici's channels and messages: OpenTelemetry's instrumentation makes the spans of requests from these, and knows no other.
 * Source: docs/docs/api/DiagnosticsChannel.md of undici.
 */
const CREATED = channel('undici:request:create');
const SENT = channel('undici:client:sendHeaders');
const ANSWERED = channel('undici:request:headers');
const ENDED = channel('undici:request:trailers');
const FAILED = channel('undici:request:error');

/** A request whose course is published. */
export class PublishedExchange {
  readonly #request: object;
  /** Those of the request, and what subscribers have added, such as a traceparent. */
  readonly headers: string[];

  /** Null without subscribers, which costs nothing. */
  static of(origin: string, request: WireRequest): PublishedExchange | null {
    return CREATED.hasSubscribers ? new PublishedExchange(origin, request) : null;
  }

  private constructor(origin: string, { method, path, headers }: WireRequest) {
    this.headers = [...headers];
    const lines = this.headers;
    const addHeader = (name: string, value: string): void => {
      lines.push(name, value);
    };
    this.#request = { origin, method, path, headers: lines, addHeader };
    CREATED.publish({ request: this.#request });
  }

  sent(socket: Socket): void {
    SENT.publish({ request: this.#request, socket });
  }

  answered({ status, headers }: WholeAnswer): void {
    const lines = Object.entries(headers).flat();
    ANSWERED.publish({ request: this.#request, response: { statusCode: status, headers: lines } });
    ENDED.publish({ request: this.#request, trailers: [] });
  }

  failed(error: unknown): void {
    FAILED.publish({ request: this.#request, error });
  }
}
