import { type FailureOutcome, isFailure } from './failure-rules.js';
import { isReasonCode, reasonInWords, reasonOf, remedyFor, remedyForFailure } from './reasons.js';

/** What failing jobs have in common: why they fail, and the source. */
export interface FailureCause {
  /** A stable code, the service's words without the job's id, or the outcome where no reason was recorded. */
  readonly code: string;
  readonly source: string | null;
  readonly outcome: string;
  /** Jobs. */
  readonly count: number;
  /** ISO 8601: of the oldest and the newest failure. */
  readonly first: string;
  readonly last: string;
  /** Null where nothing general can be said. */
  readonly remedy: string | null;
}

/** Failures with the same reason. */
interface Failures extends Pick<FailureCause, 'outcome' | 'source' | 'count' | 'first' | 'last'> {
  /** As `commonReason` has it. */
  readonly reason: string | null;
}

/** Outcomes of failing jobs whose results the service may still have. */
export const FETCHABLE: readonly string[] = ['failed', 'refused'];

export function isFetchable({ outcome }: { readonly outcome: string }): boolean {
  return FETCHABLE.includes(outcome);
}

/** A conflict has no reason of its own, whatever its line says. */
export function causeOf({ outcome, reason }: Pick<Failures, 'outcome' | 'reason'>): string {
  return outcome === 'conflict' ? outcome : (reason ?? outcome);
}

/**
 * What jobs that fail for the same reason have in common. Words of the service or of the store name the job, so that each job would have a
 * cause of its own: its id becomes `…`.
 */
export function commonReason(reason: string, jobId: string | null): string {
  if (isReasonCode(reason)) return reason;
  return reason
    .split(/([\w-]+)/)
    .map((word) => (word === jobId ? '…' : word))
    .join('');
}

/** Groups failures by cause, source and outcome; the largest group first. */
export function failureCauses(failures: readonly Failures[]): FailureCause[] {
  const causes = new Map<string, FailureCause>();
  for (const each of failures) {
    const { outcome, source, count, first, last } = each;
    const code = causeOf(each);
    const name = JSON.stringify([code, source, outcome]);
    const known = causes.get(name) ?? { count: 0, first, last };
    causes.set(name, {
      code,
      source,
      outcome,
      count: known.count + count,
      first: first < known.first ? first : known.first,
      last: last > known.last ? last : known.last,
      remedy: remedyOf(code, outcome),
    });
  }
  return [...causes]
    .sort(([one, { count }], [other, { count: more }]) => more - count || (one < other ? -1 : 1))
    .map(([, cause]) => cause);
}

function remedyOf(code: string, outcome: string): string | null {
  if (outcome === 'conflict' || reasonOf(code) === null) return remedyForFailure(outcome);
  return remedyFor(code) ?? remedyForFailure(outcome);
}

/** Why a job fails where its line has no reason. */
const OUTCOMES: Readonly<Record<FailureOutcome, string>> = {
  conflict: 'different bytes arrived for the same artefact; both are kept',
  unrecoverable: 'the service no longer has the results',
  failed: 'no reason was recorded',
  refused: 'no reason was recorded',
};

/** Part of a sentence. */
export function causeInWords(code: string): string {
  if (reasonOf(code) !== null && code !== 'conflict') return reasonInWords(code) ?? code;
  return isFailure(code) ? OUTCOMES[code] : code;
}
