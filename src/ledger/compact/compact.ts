import { StoreError } from '../../store/object-store.js';
import { cooperativeYield } from '../../time/cooperative-yield.js';
import { HOUR, hourAt, isWhole, startOfHour } from '../hours.js';
import { LEDGER_FOLDER } from '../ledger-keys.js';
import { LedgerFileError } from '../parquet/ledger-file-error.js';
import { countOf } from '../rollup/covered-numbers.js';
import type { Rollup } from '../rollup/rollup.js';
import { compactHour } from './compact-hour.js';
import type { CompactionParts } from './compaction-parts.js';
import { type CompactionReport, createCompactionReport } from './compaction-report.js';
import { readLastCompacted, saveLastCompacted } from './compaction-state.js';
import { endSegments } from './end-segments.js';
import { type LedgerDay, listDays } from './list-hours.js';
import { writeDailyRollup } from './write-daily-rollup.js';

export interface CompactOptions {
  /** Looks at every hour from this one on, compacted or not; default: behind the last one that is compacted. */
  readonly since?: Date | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with every file that this run finished, and the report so far. */
  readonly onFile?: ((rollup: Rollup, report: CompactionReport) => void) | undefined;
}

interface CompactionRun {
  readonly parts: CompactionParts;
  /** The store's time, in milliseconds since the epoch; the same for the whole run. */
  readonly now: number;
  readonly signal: AbortSignal | undefined;
  readonly report: CompactionReport;
  /** Called with every file that the run finished. */
  readonly onFile: (rollup: Rollup) => void;
  /** Hours that failed in a row. */
  failures: number;
}

const DAY = 24 * HOUR;
/** A store that fails that often in a row is not asked for the other hours. */
const MAX_FAILURES = 5;
/** Enough to repair from. */
const MAX_FAULTS = 100;

/**
 * Compacts the hours of the ledger that are whole, oldest first, sums up days, and deletes segments as `keepSegments` says. Any
 * number of processes may do so at once and be killed at any point: the next run continues. Never throws: what failed is
 * in the report.
 */
export async function compact(
  given: CompactionParts,
  { since, signal, onFile }: CompactOptions = {},
): Promise<CompactionReport> {
  const pause = given.pause ?? cooperativeYield();
  const parts: CompactionParts = {
    ...given,
    pause() {
      signal?.throwIfAborted();
      return pause();
    },
  };
  const report = createCompactionReport(parts.clock());
  try {
    const last = await readLastCompacted(parts.store);
    const run: CompactionRun = {
      ...{ parts, signal, report, failures: 0 },
      now: parts.clock() + parts.store.clockOffset(),
      onFile: (rollup) => countFile(report, rollup, onFile),
    };
    const first = since === undefined ? '~' : hourAt(since.getTime() - HOUR);
    const isAgain = last !== null && first < last;
    const reached = isAgain
      ? await compactHours(run, first, null)
      : await compactHours(run, last ?? '', last);
    if (reached !== null && reached > (last ?? '')) await saveLastCompacted(parts.store, reached);
    await endOldSegments(run);
  } catch (error) {
    if (signal?.aborted) report.interrupted = true;
    else report.faults.push({ hour: null, reason: messageOf(error) });
  }
  report.finishedAt = new Date(parts.clock()).toISOString();
  return report;
}

function countFile(report: CompactionReport, rollup: Rollup, onFile: CompactOptions['onFile']): void {
  report.files += 1;
  report.lines += rollup.rows;
  report.segments += countOf(rollup.writers);
  report.broken += rollup.broken;
  report.newer += rollup.newer;
  onFile?.(rollup, report);
}

/**
 * Compacts every hour behind one, and then sums up the days that are over. Resolves to the last hour with nothing left before it.
 *
 * @param previous the last hour before these that has lines; null where it is not known
 */
async function compactHours(
  run: CompactionRun,
  from: string,
  previous: string | null,
): Promise<string | null> {
  const days: LedgerDay[] = [];
  let [last, newest] = [previous, previous];
  let isNoneLeft = true;
  for await (const day of listDays(run.parts.store, from)) {
    for (const hour of day.hours.filter((each) => each > from && isWhole(each, run.now))) {
      run.signal?.throwIfAborted();
      // The hours behind one that is left are compacted as well, but the next run begins with it.
      isNoneLeft = (await lookAtHour(run, hour, newest)) && isNoneLeft;
      newest = hour;
      if (isNoneLeft) last = hour;
    }
    if (!isWhole(hourAt(Date.parse(day.name) + DAY - HOUR), run.now)) break;
    if (isNoneLeft) days.push(day);
  }
  for (const day of days) if (!(await sumUp(run, day))) return day.hours.at(-1) ?? null;
  return last;
}

/** Compacts what is left of an hour. Resolves to whether the hour is complete. */
async function lookAtHour(run: CompactionRun, hour: string, previous: string | null): Promise<boolean> {
  const { parts, report, signal } = run;
  let files = 0;
  const onFile = (rollup: Rollup) => {
    if (files === 0) report.hours += 1;
    files += 1;
    run.onFile(rollup);
  };
  const onFault = (reason: string) => addFault(report, hour, reason);
  let isComplete = false;
  try {
    const isDone = await attempt(run, hour, async () => {
      isComplete = await compactHour(parts, hour, { previous, signal, onFile, onFault });
    });
    if (isDone && !isComplete) report.inProgress += 1;
  } finally {
    if (!isComplete) report.oldestOpen ??= new Date(startOfHour(hour)).toISOString();
  }
  return isComplete;
}

function sumUp(run: CompactionRun, { name, hours }: LedgerDay): Promise<boolean> {
  return attempt(run, `dt=${name}/`, async () => {
    if (await writeDailyRollup(run.parts.store, name, hours)) run.report.days += 1;
  });
}

/** Deletes the segments of hours that ended long enough ago. */
async function endOldSegments(run: CompactionRun): Promise<void> {
  const { parts, report, signal, now } = run;
  if (parts.keepSegments === null) return;
  const onDeleted = () => {
    report.deleted += 1;
  };
  for await (const { hours } of listDays(parts.store, '', [LEDGER_FOLDER])) {
    for (const hour of hours) {
      signal?.throwIfAborted();
      if (now < startOfHour(hour) + HOUR + parts.keepSegments) return;
      const onFault = (reason: string) => addFault(report, hour, reason);
      await attempt(run, hour, () => endSegments(parts, hour, { signal, onDeleted, onFault }));
    }
  }
}

/**
 * Resolves to whether it succeeded. What fails is in the report; the run continues. Throws only when the run was stopped or the store
 * fails every time.
 */
async function attempt(run: CompactionRun, hour: string, work: () => Promise<void>): Promise<boolean> {
  const { report, signal } = run;
  try {
    await work();
    run.failures = 0;
    return true;
  } catch (error) {
    if (signal?.aborted) throw error;
    addFault(report, hour, messageOf(error));
    // The store answered.
    if (error instanceof LedgerFileError) run.failures = 0;
    else run.failures += 1;
    if (run.failures === MAX_FAILURES)
      throw new StoreError('compact', `${MAX_FAILURES} hours failed in a row`);
    return false;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Once: several steps of an hour can find the same damage. */
function addFault({ faults }: CompactionReport, hour: string, reason: string): void {
  if (faults.length >= MAX_FAULTS) return;
  if (!faults.some((known) => known.hour === hour && known.reason === reason)) faults.push({ hour, reason });
}
