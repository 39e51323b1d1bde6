import { VERIFY_REPORTS_FOLDER, verifyReportKey } from '../../archive/layout.js';
import { plural } from '../../lib/text/plural.js';
import { INTERRUPTED } from '../../recovery/reconcile/recovery-errors.js';
import type { VerifyFinding } from '../../recovery/verify/verify-finding.js';
import type { VerifyReport } from '../../recovery/verify/verify-report.js';
import type { ObjectStore } from '../../store/object-store.js';
import { readDocument } from '../../store/read-document.js';
import type { VerifyFigures } from '../answers/health.js';
import { lastReports } from './last-reports.js';

/** Period in milliseconds whose reports count: long enough for weekly runs over 30 days, and for a monthly one with `--deep`. */
const REMEMBERED = 35 * 24 * 3_600_000;
const MAX_BYTES = 64 * 1024 * 1024;
const MAX_REFETCH = 100;

/** A report with shortened findings. */
interface Run extends Omit<VerifyReport, 'missing' | 'damaged'> {
  readonly findings: readonly Finding[];
}

type Finding = Pick<VerifyFinding, 'key' | 'jobId' | 'receivedAt' | 'reason' | 'keptUntil'>;

/**
 * Reads the results of verify; null before the first run. A finding stays open until a later complete run has checked its time again, with
 * `--deep` if it was found so: a run over one day proves nothing about the month.
 */
export function createVerifyReportReader(
  store: ObjectStore,
  clock: () => number = Date.now,
): (signal?: AbortSignal) => Promise<VerifyFigures | null> {
  // Cache: reports never change.
  let read = new Map<string, Run>();

  /** Runs of the period, newest first; at least the newest of all. */
  async function runs(now: number, signal?: AbortSignal): Promise<Run[]> {
    const keys = await lastReports(store, VERIFY_REPORTS_FOLDER, { signal });
    const oldest = verifyReportKey(new Date(now - REMEMBERED).toISOString());
    const wanted = keys.filter((key, index, all) => key >= oldest || index === all.length - 1);
    const found = new Map<string, Run>();
    for (const key of wanted.reverse()) {
      signal?.throwIfAborted();
      const run = read.get(key) ?? runOf(await readDocument(store, key, MAX_BYTES));
      if (run !== null) found.set(key, run);
    }
    read = found;
    return [...found.values()];
  }

  return async (signal) => {
    const now = clock();
    return figuresOf(await runs(now, signal), now);
  };
}

/** @param runs newest first */
function figuresOf(runs: readonly Run[], now: number): VerifyFigures | null {
  const [newest] = runs;
  const complete = runs.find((run) => run.complete);
  const shown = complete ?? newest;
  if (newest === undefined || shown === undefined) return null;
  const open = openFindings(runs);
  // An interruption is a fault only as long as no run was complete.
  const last = complete === undefined ? newest : runs.find((run) => !wasOnlyInterrupted(run));
  const { startedAt, finishedAt, window, deep, checked, bytes } = shown;
  return {
    startedAt,
    finishedAt,
    window,
    deep,
    checked,
    bytes,
    complete: shown.complete,
    missing: open.missing,
    damaged: open.damaged,
    refetch: [...refetchable(open.findings, now)].slice(0, MAX_REFETCH),
    faults: last === undefined || last.complete ? [] : faultsOf(last),
  };
}

interface OpenFindings {
  readonly findings: readonly Finding[];
  readonly missing: number;
  readonly damaged: number;
}

function openFindings(runs: readonly Run[]): OpenFindings {
  const open = new Map<string, Finding>();
  const counts = { missing: 0, damaged: 0 };
  for (const [age, run] of runs.entries()) {
    const later = runs.slice(0, age).filter(({ complete }) => complete);
    const left = run.findings.filter((finding) => !later.some((each) => covers(each, finding)));
    for (const finding of left) {
      if (!open.has(finding.key)) counts[outcomeOf(finding)] += 1;
      open.set(finding.key, open.get(finding.key) ?? finding);
    }
    if (later.some(({ window }) => isWithin(run.window, window))) continue;
    // Findings beyond the report's list are only counted.
    for (const outcome of ['missing', 'damaged'] as const) {
      const listed = run.findings.filter((finding) => outcomeOf(finding) === outcome).length;
      counts[outcome] += run.outcomes[outcome] - listed;
    }
  }
  return { findings: [...open.values()], ...counts };
}

function outcomeOf({ reason }: Finding): 'missing' | 'damaged' {
  return reason === 'missing' ? 'missing' : 'damaged';
}

/** Whether the run has checked the finding's time again, by bytes if it was found so. */
function covers({ window, deep }: Run, { receivedAt, reason }: Finding): boolean {
  return receivedAt >= window.since && receivedAt < window.until && (deep || reason !== 'content');
}

function isWithin(inner: Run['window'], outer: Run['window']): boolean {
  return inner.since >= outer.since && inner.until <= outer.until;
}

function refetchable(findings: readonly Finding[], now: number): Set<string> {
  const missing = findings.filter(
    ({ reason, keptUntil }) => reason === 'missing' && keptUntil !== null && Date.parse(keptUntil) > now,
  );
  return new Set(missing.flatMap(({ jobId }) => jobId ?? []));
}

function wasOnlyInterrupted({ complete, faults }: Run): boolean {
  return !complete && faults.length > 0 && faults.every(({ reason }) => reason === INTERRUPTED);
}

function faultsOf({ faults, ledger }: Run): string[] {
  // Segments with unreadable lines are already among the faults.
  const { unusable } = ledger;
  const items = unusable === 0 ? [] : [`${plural(unusable, 'item')} of the ledger could not be read`];
  return [...items, ...faults.map(({ key, reason }) => (key === null ? reason : `${key}: ${reason}`))];
}

/** Null for a document that is not a report of verify. */
function runOf(document: Record<string, unknown> | null): Run | null {
  if (document === null || !Array.isArray(document.missing) || !Array.isArray(document.damaged)) return null;
  const { missing, damaged, ...report } = document as unknown as VerifyReport;
  const findings = [...missing, ...damaged].map(
    ({ key, jobId, receivedAt, reason, keptUntil }): Finding => ({
      key,
      jobId,
      receivedAt,
      reason,
      keptUntil,
    }),
  );
  return { ...report, findings };
}
