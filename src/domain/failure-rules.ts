import type { LEDGER_OUTCOMES } from './delivery.js';

/** Outcomes that make a job fail until a later line settles it. */
export const FAILURES = [
  'failed',
  'unrecoverable',
  'refused',
  'conflict',
] as const satisfies readonly (typeof LEDGER_OUTCOMES)[number][];
export type FailureOutcome = (typeof FAILURES)[number];

/** Those that results of the job settle: a conflict is an operator's to decide. */
export const SETTLED_BY_RESULTS: readonly string[] = FAILURES.filter((outcome) => outcome !== 'conflict');
const SETTLES_CONFLICTS = new Set(['chosen', 'acknowledged', 'erased']);
const REPAIRS = new Set(['stored', 'duplicate', 'recovered', 'released', 'erased', 'acknowledged']);

/** Failures of one job are kept apart by what settles them, so that one cannot hide another. */
function failureKind(outcome: string): 'conflict' | 'failure' | 'refusal' {
  if (outcome === 'conflict') return 'conflict';
  return outcome === 'refused' ? 'refusal' : 'failure';
}

interface OutcomeAt {
  readonly outcome: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

export function isFailure(outcome: string): outcome is FailureOutcome {
  return FAILURES.some((each) => each === outcome);
}

/**
 * Whether a line of the same job settles a failing one. Only an operator settles a conflict, by choosing a version, by
 * acknowledging or by erasing it: a person has to decide between the two results.
 */
export function settles({ outcome, time }: OutcomeAt, failing: OutcomeAt): boolean {
  if (time < failing.time) return false;
  if (failing.outcome === 'conflict') return SETTLES_CONFLICTS.has(outcome);
  // A callback without a body does not bring what is missing, but it settles one that was rejected.
  return outcome === 'noted' ? failing.outcome === 'refused' : REPAIRS.has(outcome);
}

/**
 * The line that makes a job fail, of its lines in any order; null when none is open. A conflict comes before newer
 * failures: only an operator settles it. Of lines that were received at the same time the first one counts.
 *
 * @param isVisible whether the client may see a failing line; any line settles
 */
export function openFailure<Line extends { readonly outcome: string; readonly receivedAt: string }>(
  lines: readonly Line[],
  isVisible: (line: Line) => boolean,
): Line | null {
  const rows = lines.map((line) => ({ line, outcome: line.outcome, time: Date.parse(line.receivedAt) }));
  const newest = new Map<string, (typeof rows)[number]>();
  for (const row of rows) {
    if (!isFailure(row.outcome) || !isVisible(row.line)) continue;
    const kind = failureKind(row.outcome);
    if (row.time > (newest.get(kind)?.time ?? Number.NEGATIVE_INFINITY)) newest.set(kind, row);
  }
  const open = rows.filter(
    (row) => newest.get(failureKind(row.outcome)) === row && !rows.some((other) => settles(other, row)),
  );
  const [last = null] = open.toSorted((one, other) => other.time - one.time);
  return (open.find(({ outcome }) => outcome === 'conflict') ?? last)?.line ?? null;
}
