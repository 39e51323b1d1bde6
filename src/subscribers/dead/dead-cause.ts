import type { DeadEvent } from './dead-event.js';

/** What ended an event: the status of its last answer such as `410`, or the code of what failed such as `timeout`. */
export function deadCause({ history, reason }: DeadEvent): string {
  const last = history.at(-1);
  return String(last?.status ?? last?.error ?? reason);
}
