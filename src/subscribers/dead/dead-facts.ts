import type { DeadEvent } from './dead-event.js';

/** How a dead event ended. */
export interface DeadFacts {
  /** Status of the last answer such as `410`, or the code of what failed such as `timeout`. */
  readonly code: string;
  /** ISO 8601. */
  readonly endedAt: string;
}

export function deadFacts({ history, reason, endedAt }: DeadEvent): DeadFacts {
  const last = history.at(-1);
  return { code: String(last?.status ?? last?.error ?? reason), endedAt };
}
