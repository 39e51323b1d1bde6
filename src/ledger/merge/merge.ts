import { cooperativeYield, type Pause } from '../../lib/time/cooperative-yield.js';
import { StoreError } from '../../store/object-store.js';
import { createOutageCheck } from '../../store/outage-check.js';
import { HOUR, hourAt, RELIST_WINDOW, startOfHour } from '../hours.js';
import { LEDGER_FOLDER, mergedFolder } from '../ledger-keys.js';
import { hoursInOrder, sentFolders } from '../log/log-hours.js';
import { type MergedHour, MergedHourError, type MergeRecord, readMergedHour } from '../log/merge-record.js';
import { retryingListings, UnreadableError } from '../retrying-reads.js';
import { deleteEach } from './delete-each.js';
import { deleteMergedSegments } from './delete-merged-segments.js';
import { type HourToMerge, hoursToMerge } from './hours-to-merge.js';
import { mergeHour } from './merge-hour.js';
import type { MergeParts } from './merge-parts.js';
import { createMergeReport, type MergeReport } from './merge-report.js';
import { sweepUnnamed } from './sweep-unnamed.js';

interface MergeOptions {
  /** Checks every hour from this time on. Default: those of the last days, and those without a record. */
  readonly since?: Date | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Default: yields to the event loop after every two milliseconds of work. */
  readonly pause?: Pause;
  /** Called with every record that this run wrote, and the report so far. */
  readonly onRecord?: ((record: MergeRecord, report: MergeReport) => void) | undefined;
}

interface Run extends MergeOptions {
  readonly parts: MergeParts;
  /** Folder of the segments. */
  readonly folder: string;
  /** The store's time, in milliseconds since the epoch; the same for the whole run. */
  readonly now: number;
  readonly report: MergeReport;
  readonly outage: ReturnType<typeof createOutageCheck>;
  readonly stuck: StuckHours;
}

/** Hours, with their folders, whose segments could not be deleted. An attempt may read all of their bytes, so they are retried daily. */
type StuckHours = Map<string, { readonly triedAt: number; readonly reason: string }>;

/** How far the hours of a folder were merged. */
interface Progress {
  /** The first hour that was not checked; empty before the first run. */
  next: string;
  /** When the hours of the last days were checked again, in milliseconds since the epoch. */
  relistedAt: number;
}

const DAY = 24 * HOUR;
const DELETED_AT_ONCE = 8;
/** Failed hours in a row, after which the store is probed. */
const MAX_FAILURES = 5;
const MAX_FAULTS = 100;

/**
 * The hours of a run, as `HourSearch` has them: those after the last run, once a day also those of the last days, or all since a time.
 */
function hoursOfRun({ next, relistedAt }: Progress, { now, since }: Run) {
  if (since !== undefined) return { from: hourAt(since.getTime()), revisitFrom: '', isDaily: false };
  if (Math.abs(now - relistedAt) < DAY) return { from: next, revisitFrom: next, isDaily: false };
  const back = hourAt(now - RELIST_WINDOW);
  return { from: back < next ? back : next, revisitFrom: back, isDaily: true };
}

/** Merges repeatedly, and remembers its progress: a further run checks new hours, and once a day those of the last days. */
export function createMerger(mergeParts: Omit<MergeParts, 'pause'>) {
  const progresses = new Map<string, Progress>();
  const stuck: StuckHours = new Map();

  async function mergeAll(run: Run): Promise<void> {
    const { parts, folder, now, signal } = run;
    const progress = progresses.get(folder) ?? { next: '', relistedAt: Number.NEGATIVE_INFINITY };
    progresses.set(folder, progress);
    const { isDaily, ...search } = hoursOfRun(progress, run);
    let firstFailed: string | null = null;
    let last = '';
    for await (const hour of hoursToMerge({ store: parts.store, folder, now, ...search })) {
      signal?.throwIfAborted();
      if (!(await mergeOne(run, hour))) firstFailed ??= hour.hour;
      last = hour.hour;
    }
    if (run.since !== undefined) return;
    if (firstFailed !== null) progress.next = firstFailed;
    else if (last !== '') progress.next = hourAt(startOfHour(last) + HOUR);
    if (firstFailed === null && isDaily) progress.relistedAt = now;
  }

  /** Merges the sent records of a subscriber. An unlistable folder is reported and does not stop the others. */
  async function mergeSent(run: Run, keepSent: number | undefined): Promise<void> {
    try {
      await mergeAll(run);
      if (keepSent === undefined) return;
      await deleteOldHours(run, keepSent);
      await deleteOldSegments(run, 0);
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      addFault(run, '', error.message);
    }
  }

  return {
    /**
     * Merges the whole hours of the ledger, then those of sent records, oldest first, and deletes what `keepSegments` and `keepSent` no
     * longer keep. Any number of processes may run at once and be killed at any point: the next run continues. Never throws: the report
     * has the failures.
     */
    async run(options: MergeOptions = {}): Promise<MergeReport> {
      const { signal, pause = cooperativeYield() } = options;
      const parts: MergeParts = {
        ...mergeParts,
        store: retryingListings(mergeParts.store),
        pause() {
          signal?.throwIfAborted();
          return pause();
        },
      };
      const report = createMergeReport(parts.clock());
      const now = parts.clock() + parts.store.clockOffset();
      const outage = createOutageCheck(MAX_FAILURES, () => parts.store.identity());
      const run: Run = { ...options, parts, folder: LEDGER_FOLDER, now, report, outage, stuck };
      try {
        await mergeAll(run);
        if (parts.keepSegments !== null) await deleteOldSegments(run, parts.keepSegments);
        for await (const folder of sentFolders(parts.store))
          await mergeSent({ ...run, folder, parts: { ...parts, folder } }, parts.keepSent);
      } catch (error) {
        if (signal?.aborted) report.interrupted = true;
        else report.faults.push({ hour: null, reason: messageOf(error) });
      }
      report.finishedAt = new Date(parts.clock()).toISOString();
      return report;
    },
  };
}

/** Merges the rest of an hour. Resolves to whether it is complete. */
async function mergeOne(run: Run, { hour, previous }: HourToMerge): Promise<boolean> {
  const { parts, report, signal } = run;
  let records = 0;
  const onRecord = (record: MergeRecord) => {
    if (records === 0) report.hours += 1;
    records += 1;
    report.records += 1;
    report.segments += record.segments.length;
    report.lines += record.segments.reduce((lines, segment) => lines + segment.lines, 0);
    run.onRecord?.(record, report);
  };
  const onFault = (reason: string) => addFault(run, hour, reason);
  let merged: MergedHour | null = null;
  try {
    merged = await attempt(run, hour, () => mergeHour(parts, hour, { previous, signal, onRecord, onFault }));
  } finally {
    if (merged === null) report.oldestOpen ??= new Date(startOfHour(hour)).toISOString();
  }
  if (merged === null) return false;
  // A bucket that denies deleting does not make the merge incomplete.
  report.swept += (await attempt(run, hour, () => sweepUnnamed(parts, merged))) ?? 0;
  return true;
}

/** Deletes the segments of merged hours that ended more than `kept` milliseconds ago. */
async function deleteOldSegments(run: Run, kept: number): Promise<void> {
  const { parts, folder, signal, now } = run;
  const { store } = parts;
  const onDeleted = () => {
    run.report.deleted += 1;
  };
  const until = now - HOUR - kept;
  for await (const hour of hoursInOrder(store, 'oldest', Number.NEGATIVE_INFINITY, until, [folder]))
    await attemptDaily(run, hour, async (onFault) =>
      deleteMergedSegments(parts, hour, await readMergedHour(store, hour, folder), {
        signal,
        onDeleted,
        onFault,
      }),
    );
}

/** Deletes hours that ended more than `kept` milliseconds ago. Segments go first, else the hour would be merged again. */
async function deleteOldHours(run: Run, kept: number): Promise<void> {
  const { folder, signal, now } = run;
  const { store } = run.parts;
  const roots = [folder, mergedFolder(folder)];
  const until = now - HOUR - kept;
  for await (const hour of hoursInOrder(store, 'oldest', Number.NEGATIVE_INFINITY, until, roots))
    await attemptDaily(run, hour, async () => {
      for (const root of roots)
        await deleteEach(store, store.keys(root + hour, { signal }), DELETED_AT_ONCE, () => {
          if (root === folder) run.report.deleted += 1;
          signal?.throwIfAborted();
        });
    });
}

/** Retries a failed hour a day later. */
async function attemptDaily(
  run: Run,
  hour: string,
  work: (onFault: (reason: string) => void) => Promise<void>,
): Promise<void> {
  const { folder, signal, now, stuck } = run;
  signal?.throwIfAborted();
  const onFault = (reason: string) => addFault(run, hour, reason);
  const name = folder + hour;
  const { triedAt = Number.NEGATIVE_INFINITY, reason = '' } = stuck.get(name) ?? {};
  if (Math.abs(now - triedAt) < DAY) return onFault(reason);
  stuck.delete(name);
  await attempt(run, hour, async () => {
    try {
      await work(onFault);
    } catch (error) {
      if (error instanceof StoreError) stuck.set(name, { triedAt: now, reason: error.message });
      throw error;
    }
  });
}

/** Resolves to null when the work fails, which is reported. Throws only when the run was stopped or the store does not answer. */
async function attempt<Result>(run: Run, hour: string, work: () => Promise<Result>): Promise<Result | null> {
  const { signal } = run;
  try {
    const result = await work();
    run.outage.succeeded();
    return result;
  } catch (error) {
    if (signal?.aborted) throw error;
    addFault(run, hour, messageOf(error));
    // The store answered.
    if (error instanceof MergedHourError) run.outage.succeeded();
    else if (await run.outage.failed())
      throw new StoreError('merge', `${MAX_FAILURES} hours failed in a row`);
    return null;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Reports a fault once: several steps of an hour can find the same damage. */
function addFault({ report: { faults }, folder }: Run, of: string, reason: string): void {
  const hour = folder + of;
  if (faults.length >= MAX_FAULTS) return;
  if (!faults.some((known) => known.hour === hour && known.reason === reason)) faults.push({ hour, reason });
}
