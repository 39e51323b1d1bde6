import { isInScope, type SourceScope } from '../domain/rights.js';
import type { JobProbe } from '../ledger/compact/job-blooms.js';
import { LedgerFileError } from '../ledger/compact/ledger-file-error.js';
import type { AttentionLine, DailyCovers, RollupFigures } from '../ledger/compact/rollup.js';
import { parquetKeyOf } from '../ledger/compact/rollup-extent.js';
import { startOfPartition } from '../ledger/ledger-reader.js';
import { readAhead } from '../ledger/read-ahead.js';
import type { ObjectStore } from '../store/object-store.js';
import { createWorkQueue } from '../time/work-queue.js';
import { findSettlingLines } from './find-settling-lines.js';
import { createRowPacker } from './ledger-row.js';
import type { FailingLine, PastFailures } from './past-failures.js';
import { readFailingLines } from './read-failing-lines.js';
import type { RollupListing } from './rollup-listing.js';
import type { RollupReader } from './rollup-reader.js';
import { type RowWindow, snapshotOf, visitRows } from './row-window.js';
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
  /** The rows in memory, which settle failures as well. */
  readonly window: RowWindow;
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

interface TakenRollup {
  readonly hour: number;
  /** Its lines before this instant were taken. */
  readonly until: number;
  /** Failing lines that the rollup leaves out. */
  readonly omitted: number;
}

const CONCURRENCY = 16;
/** Milliseconds between runs: every open dashboard asks every few seconds. */
const PAUSE = 10_000;

export function createFailureHistory(options: FailureHistoryOptions): FailureHistory {
  const { store, listing, rollups, past, clock, retention, window } = options;
  const packRows = createRowPacker();
  const decode = createWorkQueue();
  const dailies = new Map<string, DailyCovers>();
  const taken = new Map<string, TakenRollup>();
  /** Damaged rollups and files, by key. */
  const faults = new Map<string, DamagedFile>();
  const files: CompactedFile[] = [];
  const fileKeys = new Set<string>();
  /** Hours with segments and without a rollup; everything until the first listing. */
  let bare: TimeRange[] = [{ since: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }];
  /** Keys of rollups, oldest first. */
  let unread: readonly string[] = [];
  let error: string | null = null;
  let running: Promise<void> | null = null;
  let finishedAt = Number.NEGATIVE_INFINITY;
  let stopped = false;

  const oldest = () => clock() - retention;
  /** Failing lines from then on are in memory or were taken when they left it. */
  const heldSince = () => Math.max(options.seenSince(), past.takenSince);

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
    unread = wanted.filter((key) => !faults.has(key) && !isTaken(key)).sort();
  }

  function isTaken(key: string): boolean {
    const hour = hourOf(key);
    return Math.min(hour + HOUR, heldSince()) <= (taken.get(key)?.until ?? hour);
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
    if (past.isFull) return;
    const reads = readAhead([...unread], CONCURRENCY, async (key) => ({
      key,
      rollup: await rollups.rollup(key),
    }));
    for await (const { key, rollup } of reads) {
      if (stopped) return;
      if (rollup === null) noteDamaged(key, hourOf(key), true);
      else if (!(await takeRollup(key, rollup))) return;
      unread = unread.slice(1);
    }
  }

  /** False when there is no room for its lines: the rest of it is taken once others are settled. */
  async function takeRollup(key: string, { attention, attentionOmitted }: RollupFigures): Promise<boolean> {
    const until = heldSince();
    const isWhole = attentionOmitted === 0;
    let omitted = 0;
    try {
      if (!(await takeLines(key, isWhole ? attention : omittedToo(key), isWhole))) return false;
    } catch (cause) {
      if (!(cause instanceof LedgerFileError)) throw cause;
      noteDamaged(cause.key, hourOf(key), true);
      if (!(await takeLines(key, attention, true))) return false;
      omitted = attentionOmitted;
    }
    taken.set(key, { hour: hourOf(key), until, omitted });
    return true;
  }

  async function* omittedToo(key: string): AsyncGenerator<AttentionLine> {
    const lines = readFailingLines(store, parquetKeyOf(key), decode);
    for await (const line of lines) yield { line, first: line.receivedAt };
  }

  /**
   * Takes the failing lines of a rollup that were not taken yet. Returns whether there was room for all.
   *
   * @param lines in order of receipt
   * @param areOpen whether no line of its compacted file settles them
   */
  async function takeLines(
    key: string,
    lines: Iterable<AttentionLine> | AsyncIterable<AttentionLine>,
    areOpen: boolean,
  ): Promise<boolean> {
    const unsettledIn = areOpen ? parquetKeyOf(key) : null;
    const since = Math.max(oldest(), taken.get(key)?.until ?? oldest());
    for await (const { line, first } of lines) {
      const [row] = packRows([{ line, text: JSON.stringify(line) }]);
      // Lines that this process saw itself are taken when they leave the window.
      if (row === undefined || row.time < since || row.time >= heldSince()) continue;
      const take = () => past.addFrom(unsettledIn, row, Date.parse(first));
      if (take()) continue;
      await settleHeld();
      if (!stopped && take()) continue;
      taken.set(key, { hour: hourOf(key), until: row.time, omitted: 0 });
      return false;
    }
    return true;
  }

  /** Makes room: what later lines settle need not be held. */
  async function settleHeld(): Promise<void> {
    await visitRows(snapshotOf(window), past.settle);
    await searchFiles();
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
        isOfFile(line) && line.unsettledIn !== file.key && line.row.time < file.until;
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
    const ended = files.findIndex(({ until }) => until > since);
    for (const { key } of files.splice(0, ended < 0 ? files.length : ended)) {
      fileKeys.delete(key);
      for (const job of past.jobs.values()) job.searched = Math.max(0, job.searched - 1);
    }
    for (const key of dailies.keys()) if (startOfDay(key) + DAY <= since) dailies.delete(key);
  }

  async function run(): Promise<void> {
    forgetOld();
    if (heldSince() <= oldest() || stopped) return;
    await list();
    if (past.isFull) await settleHeld();
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
      const gaps = mergeRanges(ranges, { since, until: Math.min(heldSince(), clock()) });
      let uncertain = 0;
      for (const { failures, searched } of past.jobs.values()) {
        if (searched === files.length) continue;
        const isInside = (line: FailingLine) => isOfFile(line) && isInScope(sources, line.row.source);
        if (Object.values(failures).some(isInside)) uncertain += 1;
      }
      const omitted = [...taken.values()].reduce((sum, each) => sum + each.omitted, 0);
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
          ...(past.isFull && gaps.length > 0 ? [NO_ROOM] : []),
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

function isOfFile({ isFollowed }: FailingLine): boolean {
  return !isFollowed;
}

const MAX_NAMED = 3;
const NO_ROOM =
  'more failing jobs than ledger.viewMemory has room for: they are looked at once those listed are settled';

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
