import type { DeadEvent } from './dead-event.js';

/** What dead events of a subscriber have in common: how the last attempt of each ended. */
export interface DeadCause {
  /** Status of the answer such as `410`, or the code of what failed such as `timeout`. */
  readonly code: string;
  /** Events. */
  readonly count: number;
  /** ISO 8601: when the first and the last of them ended. */
  readonly first: string;
  readonly last: string;
  /** Beginning of the answer that the last one got; null without one. */
  readonly answer: string | null;
}

/** What a cause is made from, of one dead event. */
export type DeadFacts = Pick<DeadCause, 'code' | 'answer'> & Pick<DeadEvent, 'endedAt'>;

export function deadFacts({ history, reason, endedAt }: DeadEvent): DeadFacts {
  const last = history.at(-1);
  const code = last?.status ?? last?.error ?? reason;
  return { code: String(code), answer: last?.answer ?? null, endedAt };
}

/** The largest group first. */
export function deadCauses(events: readonly DeadFacts[]): DeadCause[] {
  const groups = new Map<string, DeadCause>();
  for (const { code, answer, endedAt } of events) {
    const group = groups.get(code);
    const isLast = group === undefined || endedAt >= group.last;
    groups.set(code, {
      code,
      count: (group?.count ?? 0) + 1,
      first: group === undefined || endedAt < group.first ? endedAt : group.first,
      last: isLast ? endedAt : group.last,
      answer: isLast ? answer : group.answer,
    });
  }
  return [...groups.values()].sort(
    (one, other) => other.count - one.count || (one.code < other.code ? -1 : 1),
  );
}
