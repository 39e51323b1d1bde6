/** Outcomes that make a job fail until a later line settles it. */
export const FAILURES: readonly string[] = ['failed', 'unrecoverable', 'refused', 'conflict'];
const REPAIRS = new Set(['stored', 'duplicate', 'recovered', 'released', 'erased', 'acknowledged']);

/** Failures of one job are kept apart by what settles them, so that one cannot hide another. */
export const FAILURE_KINDS = ['conflict', 'failure', 'refusal'] as const;

/** A line of each kind, or what else is held of it. */
export type OfKind<Held> = Partial<Record<(typeof FAILURE_KINDS)[number], Held>>;

export function failureKind(outcome: string): (typeof FAILURE_KINDS)[number] {
  if (outcome === 'conflict') return 'conflict';
  return outcome === 'refused' ? 'refusal' : 'failure';
}

interface OutcomeAt {
  readonly outcome: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

export function isFailure(outcome: string): boolean {
  return FAILURES.includes(outcome);
}

/**
 * Whether a line of the same job settles a failing one. Only an operator settles a conflict, by erasing or acknowledging
 * it: a person has to decide between the two results.
 */
export function settles({ outcome, time }: OutcomeAt, failing: OutcomeAt): boolean {
  if (time < failing.time) return false;
  if (failing.outcome === 'conflict') return outcome === 'erased' || outcome === 'acknowledged';
  // A callback without a body does not bring what is missing, but it settles one that was rejected.
  return outcome === 'noted' ? failing.outcome === 'refused' : REPAIRS.has(outcome);
}
