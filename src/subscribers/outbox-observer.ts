import type { Attempt, DeadEvent } from './dead-event.js';
import type { JobEvent } from './receiver-event.js';

/** What happens to the events of one subscriber. */
export interface SenderObserver {
  sent(event: JobEvent): void;
  dead(dead: DeadEvent): void;
  breaker(isOpen: boolean, last: Attempt | null): void;
}

/** What happens to the subscribers, for logs and metrics. */
export interface OutboxObserver {
  events(subscriber: string): SenderObserver;
  /** Called with what keeps a sender from its work for a while; it goes on by itself. */
  delayed(subscriber: string, error: unknown, hour: string | null): void;
  /** Called when this process begins and ends to send. */
  sending(subscriber: string, isSending: boolean): void;
}
