import type { HealthNotice } from '../../events/receiver-event.js';
import type { Trouble } from '../api/answers/health.js';

/** Milliseconds that a problem must last before it is announced: one that comes and goes is none yet. */
export const OPEN_AFTER = 60_000;
/** Milliseconds that a problem must be gone before that is announced, so that a flapping one is announced once. */
export const CLOSE_AFTER = 10 * 60_000;
/** Milliseconds after which a notice that could not be sent is given up. */
export const KEPT_FOR = 24 * 3_600_000;

/** A notice on its way to a subscriber. */
export interface PendingNotice {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A problem as one subscriber knows it. Times in milliseconds since the epoch. */
export interface TrackedProblem {
  readonly notice: Omit<HealthNotice, 'store'>;
  readonly firstSeen: number;
  readonly lastSeen: number;
  /** `watched`: too short to be announced. */
  readonly state: 'watched' | 'opening' | 'open' | 'closing';
  /** Of `opening` and `closing`. */
  readonly pending: PendingNotice | null;
}

export type TrackedProblems = Readonly<Record<string, TrackedProblem>>;

/** What was looked at. */
export interface Seen {
  readonly troubles: readonly Trouble[];
  /** Whether everything was looked at: a problem that was not looked at is not over. */
  readonly whole: boolean;
}

/** The state after a look at the verdict. */
export function afterLook(
  tracked: TrackedProblems,
  { troubles, whole }: Seen,
  now: number,
  newId: () => string,
): TrackedProblems {
  const present = new Map(
    troubles.flatMap((each) => (each.problem === undefined ? [] : [[each.problem, each]])),
  );
  const next: Record<string, TrackedProblem> = {};
  for (const problem of new Set([...Object.keys(tracked), ...present.keys()])) {
    const known = tracked[problem];
    const trouble = present.get(problem);
    const after =
      trouble === undefined
        ? known && withoutTrouble(known, whole, now, newId)
        : withTrouble(known ?? watched(problem, trouble, now), trouble, now, newId);
    if (after !== undefined && !isStale(after, now)) next[problem] = after;
  }
  return next;
}

/** The state after a notice was delivered. */
export function afterDelivery(tracked: TrackedProblems, problem: string): TrackedProblems {
  const { [problem]: known, ...others } = tracked;
  if (known === undefined || known.state === 'closing') return others;
  return { ...others, [problem]: { ...known, state: 'open', pending: null } };
}

/** What this replica goes on with once it has the claim: the state in the store, and what it announced without it. */
export function afterTakeOver(own: TrackedProblems, stored: TrackedProblems, now: number): TrackedProblems {
  const seen = Object.entries(stored).map(([problem, known]) => [problem, { ...known, lastSeen: now }]);
  return { ...own, ...Object.fromEntries(seen) };
}

/**
 * What this replica has left to say once another one has the claim: a problem that it announced while it could not save is
 * over for it.
 *
 * @param saved what the store knew of it last
 */
export function afterOtherReplica(
  own: TrackedProblems,
  saved: TrackedProblems,
  now: number,
  newId: () => string,
): TrackedProblems {
  const orphans = Object.entries(own).flatMap(([problem, known]): [string, TrackedProblem][] => {
    if (problem in saved || (known.state !== 'open' && known.state !== 'closing')) return [];
    const pending = known.pending ?? { id: newId(), at: now };
    return [[problem, { ...known, state: 'closing', pending }]];
  });
  return Object.fromEntries(orphans);
}

function watched(problem: string, { level, text }: Trouble, now: number): TrackedProblem {
  const notice = { problem, level, text, since: new Date(now).toISOString() };
  return { notice, firstSeen: now, lastSeen: now, state: 'watched', pending: null };
}

function withTrouble(
  known: TrackedProblem,
  { level, text }: Trouble,
  now: number,
  newId: () => string,
): TrackedProblem {
  const seen = { ...known, lastSeen: now };
  if (known.state === 'watched' && now - known.firstSeen >= OPEN_AFTER) {
    const notice = { ...known.notice, level, text };
    return { ...seen, notice, state: 'opening', pending: { id: newId(), at: now } };
  }
  // One that returns while its end is being announced is announced again afterwards: the end may be on its way.
  return seen;
}

/** Undefined once the problem needs no more attention. */
function withoutTrouble(
  known: TrackedProblem,
  whole: boolean,
  now: number,
  newId: () => string,
): TrackedProblem | undefined {
  const gone = now - known.lastSeen;
  if (known.state === 'watched') return gone > OPEN_AFTER ? undefined : known;
  if (!whole) return { ...known, lastSeen: now };
  if (known.state === 'closing' || gone < CLOSE_AFTER) return known;
  // The subscriber never heard of it.
  if (known.state === 'opening') return undefined;
  return { ...known, state: 'closing', pending: { id: newId(), at: now } };
}

function isStale({ pending }: TrackedProblem, now: number): boolean {
  return pending !== null && now - pending.at > KEPT_FOR;
}
