import type { JobProbe } from '../archive/ledger/compaction/job-blooms.js';
import { LedgerFileError } from '../archive/ledger/compaction/ledger-file-error.js';
import type { DailyCovers, Rollup } from '../archive/ledger/compaction/rollup.js';
import { parquetKeyOf } from '../archive/ledger/compaction/rollup-extent.js';
import { startOfPartition } from '../archive/ledger/ledger-reader.js';
import { readAhead } from '../archive/ledger/read-ahead.js';
import type { LedgerLine } from '../domain/delivery.js';
import { settles } from '../domain/failure-rules.js';
import { isInScope, type SourceScope } from '../domain/rights.js';
import type { ObjectStore } from '../store/object-store.js';
import { createWorkQueue } from '../time/work-queue.js';
import { findSettlingLines } from './find-settling-lines.js';
import { createRowPacker } from './ledger-row.js';
import type { FailingLine, PastFailures } from './past-failures.js';
import type { RollupListing } from './rollup-listing.js';
import type { RollupReader } from './rollup-reader.js';
import { DAY, HOUR, mergeRanges, type TimeRange } from './time-ranges.js';

/** What of a range the open failures do not cover. */
export interface FailureScope {
  /** From here on, in milliseconds since the epoch, every delivery was looked at. */
  readonly since: number;
  /** Ranges before it that were not looked at, and why others are uncertain; empty when the whole range is covered. */
  readonly unseen: readonly string[];
}

/** Finds the open failures of the time before this process followed the ledger, from rollups and compacted files. */
export interface FailureHistory {
  /**
   * Reads the rollups that were not read yet, and searches compacted files for lines that settle a failure. Calls share
   * one run. Never rejects: `scope` says what failed.
   */
  update(): Promise<void>;
  /** What it says of single failures covers these sources only. */
  scope(sources: SourceScope): FailureScope;
  /** Ends the run that is under way. */
  stop(): Promise<void>;
}

export interface FailureHistoryOptions {
  readonly store: ObjectStore;
  readonly listing: RollupListing;
  readonly rollups: Pick<RollupReader, 'rollup' | 'covers'>;
  readonly past: PastFailures;
  readonly clock: () => number;
  /** How far back failures are looked for, in milliseconds. */
  readonly retention: number;
  /** This process has seen every line received from then on. */
  readonly seenSince: () => number;
}

interface DamagedFile extends TimeRange {
  /** Whether lines of that time may be missing. */
  readonly hidesLines: boolean;
}

/** A compacted file; all its lines were received before `until`. */
interface CompactedFile {
  readonly key: string;
  /** Key of its rollup. */
  readonly rollup: string;
  readonly until: number;
}

type RollupLines = Pick<Rollup, 'attention' | 'attentionOmitted' | 'repairs'>;

interface TakenRollup {
  readonly hour: number;
  /** Failing lines that the rollup leaves out. */
  readonly omitted: number;
}

const CONCURRENCY = 16;
/** Milliseconds between runs: every open dashboard asks every few seconds. */
const PAUSE = 10_000;

export function createFailureHistory(options: FailureHistoryOptions): FailureHistory {
  const { store, listing, rollups, past, clock, retention, seenSince } = options;
  const packRows = createRowPacker();
  const decode = createWorkQueue();
  const dailies = new Map<string, DailyCovers>();
  const taken = new Map<string, TakenRollup>();
  /** Damaged rollups and files, by key. */
  const faults = new Map<string, DamagedFile>();
  const files: CompactedFile[] = [];
  const fileKeys = new Set<string>();
  /** When an operator settled jobs: a conflict may be found later, in a late rollup. */
  const decisions = new Map<string, number>();
  /** Hours with segments and without a rollup; everything until the first listing. */
  let bare: TimeRange[] = [{ since: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }];
  /** Keys of rollups, oldest first. */
  let unread: readonly string[] = [];
  let error: string | null = null;
  let running: Promise<void> | null = null;
  let finishedAt = Number.NEGATIVE_INFINITY;
  let stopped = false;

  const oldest = () => clock() - retention;

  async function list(): Promise<void> {
    const days = await listing.days(oldest(), clock(), true);
    const wanted: string[] = [];
    for (const { start, daily, hours } of days) {
      for (const key of daily) wanted.push(...(await takeDaily(key, start)));
      for (const keys of hours.values()) {
        for (const key of keys) noteFile(key);
        wanted.push(...keys);
      }
    }
    bare = days.flatMap((day) => day.bare.map(hourFrom));
    unread = wanted.filter((key) => !taken.has(key) && !faults.has(key) && hourOf(key) < seenSince()).sort();
  }

  /** Notes the files of a day. Returns the rollups whose lines matter. */
  async function takeDaily(key: string, day: number): Promise<readonly string[]> {
    const daily = dailies.get(key) ?? (await rollups.covers(key));
    if (daily === null) {
      faults.set(key, { since: day, until: day + DAY, hidesLines: true });
      return [];
    }
    dailies.set(key, { day: daily.day, covers: daily.covers, noteworthy: daily.noteworthy });
    for (const covered of daily.covers) noteFile(covered);
    return daily.noteworthy;
  }

  function noteFile(rollup: string): void {
    const key = parquetKeyOf(rollup);
    if (fileKeys.has(key)) return;
    fileKeys.add(key);
    files.push({ key, rollup, until: hourOf(rollup) + HOUR });
  }

  async function readRollups(): Promise<void> {
    const reads = readAhead([...unread], CONCURRENCY, async (key) => ({
      key,
      rollup: await rollups.rollup(key),
    }));
    for await (const { key, rollup } of reads) {
      if (stopped) return;
      if (rollup === null) noteDamaged(key, hourOf(key), true);
      else takeRollup(key, rollup);
      unread = unread.slice(1);
    }
  }

  function takeRollup(key: string, { attention, attentionOmitted, repairs }: RollupLines): void {
    for (const { line, first } of attention) takeFailure(key, line, first);
    for (const { jobId: job, outcome, receivedAt } of repairs) {
      const time = Date.parse(receivedAt);
      past.settle({ job, outcome, time });
      if (settles({ outcome, time }, { outcome: 'conflict', time })) {
        decisions.set(job, Math.max(time, decisions.get(job) ?? 0));
      }
    }
    taken.set(key, { hour: hourOf(key), omitted: attentionOmitted });
  }

  function takeFailure(key: string, line: LedgerLine, first: string): void {
    const entry = { line, text: JSON.stringify(line) };
    const [row] = packRows([entry]);
    // Lines that this process saw itself are taken when they leave the window.
    if (row === undefined || row.time < oldest() || row.time >= seenSince()) return;
    past.addFrom(parquetKeyOf(key), row, Date.parse(first));
    const decision = decisions.get(line.jobId ?? '');
    if (decision !== undefined) past.settle({ job: line.jobId, outcome: 'acknowledged', time: decision });
  }

  /** Oldest file first: most failures are settled soon. Each file is searched once for each failure. */
  async function searchFiles(): Promise<void> {
    const unsearched = [...files.keys()].slice(fewestSearched());
    const searches = readAhead(unsearched, CONCURRENCY, async (index) => {
      const file = files[index];
      const jobs = file === undefined ? new Map() : jobsToSearch(file, index);
      if (file === undefined || jobs.size === 0) return { index, lines: [] };
      return { index, lines: await linesOf(file, jobs) };
    });
    for await (const { index, lines } of searches) {
      if (stopped) return;
      for (const line of lines) past.settle(line);
      for (const job of past.jobs.values()) if (job.searched === index) job.searched = index + 1;
    }
  }

  function fewestSearched(): number {
    let fewest = files.length;
    for (const { failures, searched } of past.jobs.values()) {
      if (Object.values(failures).some(isOfFile)) fewest = Math.min(fewest, searched);
    }
    return fewest;
  }

  function jobsToSearch(file: CompactedFile, index: number): Map<string, JobProbe> {
    const wanted = new Map<string, JobProbe>();
    for (const [job, { failures, searched, probe }] of past.jobs) {
      const mayHold = (line: FailingLine) =>
        isOfFile(line) && line.file !== file.key && line.row.time < file.until;
      if (searched <= index && Object.values(failures).some(mayHold)) wanted.set(job, probe);
    }
    return wanted;
  }

  async function linesOf(file: CompactedFile, jobs: ReadonlyMap<string, JobProbe>) {
    const hour = file.until - HOUR;
    try {
      const found = await findSettlingLines(store, file.key, jobs, decode);
      // A rollup without rows has no file.
      if (found === null && (await rollups.rollup(file.rollup))?.parquet !== null)
        noteDamaged(file.key, hour, true);
      if (found?.damage) noteDamaged(file.key, hour, found.damage === 'rows');
      return found?.lines ?? [];
    } catch (cause) {
      if (!(cause instanceof LedgerFileError)) throw cause;
      noteDamaged(file.key, hour, true);
      return [];
    }
  }

  function noteDamaged(key: string, hour: number, hidesLines: boolean): void {
    faults.set(key, { ...hourFrom(hour), hidesLines });
  }

  function forgetOld(): void {
    const since = oldest();
    past.forgetBefore(since);
    for (const [key, { hour }] of taken) if (hour + HOUR <= since) taken.delete(key);
    for (const [key, { until }] of faults) if (until <= since) faults.delete(key);
    for (const [job, time] of decisions) if (time < since) decisions.delete(job);
    const ended = files.findIndex(({ until }) => until > since);
    for (const { key } of files.splice(0, ended < 0 ? files.length : ended)) {
      fileKeys.delete(key);
      for (const job of past.jobs.values()) job.searched = Math.max(0, job.searched - 1);
    }
    for (const key of dailies.keys()) if (startOfDay(key) + DAY <= since) dailies.delete(key);
  }

  async function run(): Promise<void> {
    forgetOld();
    if (seenSince() <= oldest() || stopped) return;
    await list();
    await readRollups();
    await searchFiles();
  }

  async function runAndReport(): Promise<void> {
    try {
      await run();
      error = null;
    } catch (cause) {
      error = cause instanceof Error ? cause.message : 'the store failed';
    } finally {
      running = null;
      finishedAt = clock();
    }
  }

  return {
    update() {
      if (running === null && clock() - finishedAt < PAUSE) return Promise.resolve();
      running ??= runAndReport();
      return running;
    },
    scope(sources) {
      const since = oldest();
      const hiding = [...faults.values()].filter(({ hidesLines }) => hidesLines);
      const ranges = [...bare, ...unread.map((key) => hourFrom(hourOf(key))), ...hiding];
      const gaps = mergeRanges(ranges, { since, until: Math.min(seenSince(), clock()) });
      let uncertain = 0;
      for (const { failures, searched } of past.jobs.values()) {
        if (searched === files.length) continue;
        const isInside = (line: FailingLine) => isOfFile(line) && isInScope(sources, line.row.source);
        if (Object.values(failures).some(isInside)) uncertain += 1;
      }
      const omitted = [...taken.values()].reduce((sum, each) => sum + each.omitted, past.omitted);
      return {
        since: gaps.at(-1)?.until ?? since,
        unseen: [
          ...gapsInWords(gaps, since),
          ...[...faults.keys()]
            .slice(0, MAX_NAMED)
            .map((key) => `${key}, which is missing, damaged or of a newer version`),
          ...(uncertain > 0 ? [`what arrived later for ${uncertain} of the failing jobs`] : []),
          // Their sources are not known, so that a number would count those of others.
          ...(omitted > 0
            ? [`${sources === null ? `${omitted} ` : ''}failing deliveries beyond the limit`]
            : []),
          ...(error === null ? [] : [`what the store did not answer (${error})`]),
        ],
      };
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}

function isOfFile({ file }: FailingLine): boolean {
  return file !== null;
}

const MAX_NAMED = 3;

function gapsInWords(gaps: readonly TimeRange[], since: number): string[] {
  const named = gaps
    .slice(-MAX_NAMED)
    .map((gap) =>
      gap.since <= since
        ? `deliveries before ${iso(gap.until)}`
        : `deliveries from ${iso(gap.since)} to ${iso(gap.until)}`,
    );
  const more = gaps.length - named.length;
  return more === 0 ? named : [...named, `${more} more gaps`];
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

function hourFrom(since: number): TimeRange {
  return { since, until: since + HOUR };
}

/** The hour of a rollup. */
function hourOf(key: string): number {
  return startOfPartition(key.slice(0, key.lastIndexOf('/') + 1));
}

function startOfDay(dailyKey: string): number {
  return Date.parse(dailyKey.split('/')[1]?.slice('dt='.length) ?? '');
}
