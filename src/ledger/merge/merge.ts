import { cooperativeYield, type Pause } from '../../lib/time/cooperative-yield.js';
import { StoreError } from '../../store/object-store.js';
import { createOutageCheck } from '../../store/outage-check.js';
import { HOUR, hourAt, LISTED_AGAIN, startOfHour } from '../hours.js';
import { LEDGER_FOLDER, mergedFolder } from '../ledger-keys.js';
import { hoursInOrder, sentFolders } from '../log/log-hours.js';
import { type MergedHour, MergedHourError, type MergeRecord, readMergedHour } from '../log/merge-record.js';
import { retryingListings, UnreadableError } from '../retrying-reads.js';
import { deleteEach } from './delete-each.js';
import { endSegments } from './end-segments.js';
import { type HourToMerge, hoursToMerge } from './hours-to-merge.js';
import { mergeHour } from './merge-hour.js';
import type { MergeParts } from './merge-parts.js';
import { createMergeReport, type MergeReport } from './merge-report.js';
import { sweepUnnamed } from './sweep-unnamed.js';

interface MergeOptions {
  /** Looks at every hour from this time on; default: at those of the last days, and at those that have no record. */
  readonly since?: Date | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Default: gives other callbacks a turn after every two milliseconds of work. */
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

/** Hours, with their folders, whose segments could not be deleted: all of their bytes may be read before a try. */
type StuckHours = Map<string, { readonly triedAt: number; readonly reason: string }>;

/** How far the hours of a folder were merged. */
interface Progress {
  /** The first hour that was not looked at; empty before the first run. */
  next: string;
  lookedBackAt: number;
}

const DAY = 24 * HOUR;
const DELETED_AT_ONCE = 8;
/** Hours that failed in a row, after which the store is asked whether it answers at all. */
const MAX_FAILURES = 5;
/** Enough to repair from. */
const MAX_FAULTS = 100;

/** Merges again and again, and remembers how far it came: a further run looks at what is new, and daily at the last days. */
export function createMerger(given: Omit<MergeParts, 'pause'>) {
  const progresses = new Map<string, Progress>();
  const stuck: StuckHours = new Map();

  async function mergeAll(run: Run): Promise<void> {
    const { folder } = run;
    const known = progresses.get(folder) ?? { next: '', lookedBackAt: Number.NEGATIVE_INFINITY };
    progresses.set(folder, known);
    const { next } = known;
    const { parts, now, since, signal } = run;
    const back = hourAt(now - LISTED_AGAIN);
    const isDue = Math.abs(now - known.lookedBackAt) >= DAY;
    const first = since === undefined ? (isDue && back < next ? back : next) : hourAt(since.getTime());
    const every = since === undefined ? (isDue ? back : next) : '';
    let left: string | null = null;
    let reached = '';
    for await (const hour of hoursToMerge({ store: parts.store, folder, now, from: first, every })) {
      signal?.throwIfAborted();
      if (!(await lookAt(run, hour))) left ??= hour.hour;
      reached = hour.hour;
    }
    if (since !== undefined) return;
    if (left !== null) known.next = left;
    else if (reached !== '') known.next = hourAt(startOfHour(reached) + HOUR);
    if (left === null && isDue) known.lookedBackAt = now;
  }

  /** What was sent to a subscriber. A folder of hours that cannot be listed is in the report, and keeps no other from being merged. */
  async function mergeSent(run: Run, keepSent: number | undefined): Promise<void> {
    try {
      await mergeAll(run);
      if (keepSent === undefined) return;
      await endOldHours(run, keepSent);
      await endOldSegments(run, 0);
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
      addFault(run, '', error.message);
    }
  }

  return {
    /**
     * Merges the whole hours of the ledger, then those of what was sent to subscribers, oldest first, and deletes what `keepSegments` and
     * `keepSent` say. Any number of processes may do so at once and be killed at any point: the next run continues. Never throws: what
     * failed is in the report.
     */
    async run(options: MergeOptions = {}): Promise<MergeReport> {
      const { signal, pause = cooperativeYield() } = options;
      const parts: MergeParts = {
        ...given,
        store: retryingListings(given.store),
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
        if (parts.keepSegments !== null) await endOldSegments(run, parts.keepSegments);
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

/** Merges what is left of an hour. Resolves to whether nothing is. */
async function lookAt(run: Run, { hour, previous }: HourToMerge): Promise<boolean> {
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
  // The hour is merged all the same where a bucket denies deleting.
  report.swept += (await attempt(run, hour, () => sweepUnnamed(parts, merged))) ?? 0;
  return true;
}

/** Deletes the segments of hours that ended so many milliseconds ago and are merged. */
async function endOldSegments(run: Run, kept: number): Promise<void> {
  const { parts, folder, signal, now } = run;
  const { store } = parts;
  const onDeleted = () => {
    run.report.deleted += 1;
  };
  const until = now - HOUR - kept;
  for await (const hour of hoursInOrder(store, 'oldest', Number.NEGATIVE_INFINITY, until, [folder]))
    await attemptDaily(run, hour, async (onFault) =>
      endSegments(parts, hour, await readMergedHour(store, hour, folder), { signal, onDeleted, onFault }),
    );
}

/** Deletes hours that ended so many milliseconds ago: segments first, as those whose merged hour ended would be merged again. */
async function endOldHours(run: Run, kept: number): Promise<void> {
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

/** Where it fails, it is tried again a day later. */
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

/** Null for what fails, which is in the report; the run continues. Throws only when the run was stopped or the store does not answer. */
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

/** Once: several steps of an hour can find the same damage. */
function addFault({ report: { faults }, folder }: Run, of: string, reason: string): void {
  const hour = folder + of;
  if (faults.length >= MAX_FAULTS) return;
  if (!faults.some((known) => known.hour === hour && known.reason === reason)) faults.push({ hour, reason });
}
