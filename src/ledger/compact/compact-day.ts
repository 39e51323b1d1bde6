import { encodeTime } from 'ulid';
import { StoreError } from '../../store/object-store.js';
import { LEDGER_FOLDER, ROLLUPS_FOLDER } from '../ledger-keys.js';
import { startOfPartition } from '../ledger-reader.js';
import { compactHour } from './compact-hour.js';
import type { CompactionParts } from './compaction-parts.js';
import type { CompactionReport } from './compaction-report.js';
import { endSegments } from './end-segments.js';
import { LedgerFileError } from './ledger-file-error.js';
import type { Rollup } from './rollup.js';
import { writeDailyRollup } from './write-daily-rollup.js';

/** A day that has segments, rollups or plans. */
export interface LedgerDay {
  /** `YYYY-MM-DD` */
  readonly name: string;
  readonly hasSegments: boolean;
  readonly hasRollups: boolean;
  readonly hasDailyRollup: boolean;
  /** Folders of the hours that have plans. */
  readonly planned: ReadonlySet<string>;
}

export interface CompactionRun {
  readonly parts: CompactionParts;
  /** Milliseconds since the epoch; the same for the whole run. */
  readonly now: number;
  /** Every segment of hours that end later is listed, whether the hour was compacted before or not. */
  readonly since: number | null;
  readonly signal: AbortSignal | undefined;
  readonly report: CompactionReport;
  /** Called with every file that the run finished. */
  readonly onFile: (rollup: Rollup) => void;
  /** Hours that failed in a row. */
  failures: number;
}

interface LedgerHour {
  /** Folder of the hour. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly end: number;
  readonly closedAt: number;
  readonly hasRollup: boolean;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** An hour is looked at for late segments until so long after it was closed, and once more when its day is summed up. */
const LATE_SEGMENTS = 4 * HOUR;
/** Names of segments begin with the clock of their replica. These differ by less. */
const CLOCK_SKEW = HOUR;
/** A store that fails that often in a row is not asked for the other hours. */
const MAX_FAILURES = 5;
/** Enough to repair from. */
const MAX_FAULTS = 100;

/** Compacts the closed hours of a day, oldest first, and sums the day up once it ended more than 24 hours ago. */
export async function compactDay(run: CompactionRun, day: LedgerDay): Promise<void> {
  const { parts, now, since } = run;
  const start = Date.parse(day.name);
  const isRevisited = since !== null && since < start + DAY;
  const isDue = now >= start + 2 * DAY && (!day.hasDailyRollup || isRevisited || day.planned.size > 0);
  const endsSegments =
    parts.keepSegments !== null && day.hasSegments && now >= start + HOUR + parts.keepSegments;
  if (day.hasDailyRollup && !isDue && !endsSegments) return;

  // A done plan leads the next run back to a day whose daily rollup may lack the file, if this process dies before.
  const donePlans: string[] = [];
  const onPlanDone = async (key: string) => {
    if (day.hasDailyRollup || parts.clock() >= start + 2 * DAY - CLOCK_SKEW) donePlans.push(key);
    else await parts.store.delete(key);
  };
  let isComplete = true;
  for (const hour of await hoursOf(run, day)) {
    const isRequested = since !== null && since < hour.end;
    const isWhole = isDue || isRequested || !hour.hasRollup || day.planned.has(hour.name);
    const isLate = now < hour.closedAt + LATE_SEGMENTS;
    if (hour.closedAt > now) isComplete = false;
    else if (isWhole || isLate) isComplete = (await lookAtHour(run, hour, isWhole, onPlanDone)) && isComplete;
    if (endsSegments && now >= hour.end + (parts.keepSegments ?? 0)) await endSegmentsOf(run, hour.name);
  }
  if (!isDue || !isComplete) return;
  const folder = `dt=${day.name}/`;
  await attempt(run, folder, async () => {
    const onFault = (reason: string) => addFault(run.report, folder, reason);
    if (await writeDailyRollup(parts.store, day.name, onFault)) run.report.days += 1;
    for (const key of donePlans) await parts.store.delete(key);
  });
}

/** Compacts what is left of an hour. Resolves to whether the hour is complete. */
async function lookAtHour(
  run: CompactionRun,
  hour: LedgerHour,
  isWhole: boolean,
  onPlanDone: (planKey: string) => Promise<void>,
): Promise<boolean> {
  const { parts, report, signal } = run;
  let files = 0;
  const onFile = (rollup: Rollup) => {
    if (files === 0) report.hours += 1;
    files += 1;
    run.onFile(rollup);
  };
  const onFault = (reason: string) => addFault(report, hour.name, reason);
  const startAfter = isWhole ? undefined : encodeTime(hour.closedAt - CLOCK_SKEW);
  let isComplete = false;
  try {
    await attempt(run, hour.name, async () => {
      isComplete = await compactHour(parts, hour.name, { signal, startAfter, onFile, onFault, onPlanDone });
      if (!isComplete) report.inProgress += 1;
    });
  } finally {
    if (!isComplete) report.oldestOpen ??= new Date(hour.end - HOUR).toISOString();
  }
  return isComplete;
}

async function endSegmentsOf(run: CompactionRun, hour: string): Promise<void> {
  const { parts, signal, report } = run;
  await attempt(run, hour, () =>
    endSegments(parts, hour, {
      signal,
      onDeleted: () => {
        report.deleted += 1;
      },
      onFault: (reason) => addFault(report, hour, reason),
    }),
  );
}

/** What fails is in the report; the run continues. Throws only when the run was stopped or the store fails every time. */
async function attempt(run: CompactionRun, hour: string, work: () => Promise<void>): Promise<void> {
  const { report, signal } = run;
  try {
    await work();
    run.failures = 0;
  } catch (error) {
    if (signal?.aborted) throw error;
    addFault(report, hour, error instanceof Error ? error.message : String(error));
    // The store answered.
    if (error instanceof LedgerFileError) run.failures = 0;
    else run.failures += 1;
    if (run.failures === MAX_FAILURES)
      throw new StoreError('compact', `${MAX_FAILURES} hours failed in a row`);
  }
}

/** Once: several steps of an hour can find the same damage. */
function addFault({ faults }: CompactionReport, hour: string, reason: string): void {
  if (faults.length >= MAX_FAULTS) return;
  if (!faults.some((known) => known.hour === hour && known.reason === reason)) faults.push({ hour, reason });
}

/** The hours of a day that have segments or plans, oldest first. */
async function hoursOf({ parts }: CompactionRun, day: LedgerDay): Promise<LedgerHour[]> {
  const { store, closedAfter } = parts;
  const names = new Set(day.planned);
  const compacted = new Set<string>();
  if (day.hasSegments) {
    for await (const key of store.folders(`${LEDGER_FOLDER}dt=${day.name}/`)) {
      names.add(key.slice(LEDGER_FOLDER.length));
    }
  }
  if (day.hasRollups) {
    for await (const key of store.folders(`${ROLLUPS_FOLDER}dt=${day.name}/`)) {
      compacted.add(key.slice(ROLLUPS_FOLDER.length));
    }
  }
  return [...names]
    .sort()
    .map((name) => ({ name, end: startOfPartition(name) + HOUR, hasRollup: compacted.has(name) }))
    .filter(({ end }) => !Number.isNaN(end))
    .map((hour) => ({ ...hour, closedAt: hour.end + closedAfter }));
}
