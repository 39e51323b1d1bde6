import { isFailure } from '../../../domain/failure-rules.js';
import type { SourceScope } from '../../../domain/rights.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { HOUR, hourAt, startOfHour } from '../../hours.js';
import { hoursInOrder } from '../../log/log-hours.js';
import { LedgerFileError } from '../../parquet/ledger-file-error.js';
import { readAhead } from '../../read-ahead.js';
import type { CompactedHours, DescribedHour, HourFile } from '../log/compacted-hours.js';
import { entryOf, type LogEntry } from '../log/log-entry.js';
import { mergeRanges, rangeOfHour, type TimeRange } from '../time-ranges.js';
import { createRowPacker, type LedgerRow } from '../window/ledger-row.js';
import type { RowWindow } from '../window/row-window.js';
import { describeUnseen } from './describe-unseen.js';
import { createFailingJobs, type FailingJob } from './failing-jobs.js';
import { createFailureProof } from './failure-proof.js';
import { createHourFaults } from './hour-faults.js';
import { readFailingLines } from './read-failing-lines.js';
import { settleByFiles } from './settle-by-files.js';
import { unsettledInMemory } from './unsettled-in-memory.js';

/** The part of a range that the open failures do not cover. */
export interface FailureScope {
  /** From here on, in milliseconds since the epoch, every delivery was looked at. */
  readonly since: number;
  /** What before it was not looked at, and why else failures may be missing; empty when the whole range is covered. */
  readonly unseen: readonly string[];
}

/** The open failures of the time that the service keeps results: of compacted files, and of the lines that were in memory. */
export interface FailureHistory {
  /** Reads the hours that were not read yet. Calls share one run. Never rejects: `scope` says what failed. */
  update(): Promise<void>;
  /** Takes rows that came into memory, after `completeSince` says so. */
  take(rows: readonly LedgerRow[]): void;
  /** Lines were passed that did not come into memory. */
  restart(): void;
  /** The failing jobs as far as they are known now. */
  jobs(): ReadonlyMap<string, Pick<FailingJob, 'first' | 'rows'>>;
  /** Whether a failing line is like this. */
  some(test: (row: LedgerRow) => boolean): boolean;
  /** What it says of single failures covers these sources only. */
  scope(sources: SourceScope): FailureScope;
  /** Ends the run that is under way. */
  stop(): Promise<void>;
}

export interface FailureHistoryOptions {
  readonly store: ObjectStore;
  readonly compacted: CompactedHours;
  readonly window: RowWindow;
  readonly clock: () => number;
  /** How far back failures are looked for, in milliseconds. */
  readonly retention: number;
  readonly maxBytes: number;
  /** Every line written from then on is in the window. */
  readonly completeSince: () => number;
  /** Every line written from then on is in the window, or left it. */
  readonly seenSince: () => number;
}

const HOURS_AHEAD = 8;
/** Milliseconds between runs, as every open dashboard asks every few seconds; none after a run that the store failed. */
const PAUSE = 10_000;

export function createFailureHistory(options: FailureHistoryOptions): FailureHistory {
  const { store, compacted, window, clock, retention, completeSince } = options;
  const packRows = createRowPacker();
  const failing = createFailingJobs(options.maxBytes);
  const faults = createHourFaults();
  /** From here on every line was taken when it came into memory. */
  let takenSince = Number.POSITIVE_INFINITY;
  const followedSince = () => {
    takenSince = Math.min(takenSince, options.seenSince());
    return takenSince;
  };
  const proof = createFailureProof({ failing, settleByEach, window, completeSince, followedSince });
  /** Hours that were read, with their files. */
  const read = new Map<string, readonly HourFile[]>();
  /** Every file that was read ends before this instant. */
  let readTo = Number.NEGATIVE_INFINITY;
  /** Number of failing lines that there was no room for, by hour. */
  const omitted = new Map<string, number>();
  /** Hours with lines that were not read; everything before the first run. */
  let unread: readonly TimeRange[] = [ALWAYS];
  let error: string | null = null;
  let running: Promise<void> | null = null;
  let finishedAt = Number.NEGATIVE_INFINITY;
  let stopped = false;

  const oldest = () => clock() - retention;
  /** Lines written from then on need not be read. */
  const edge = () => Math.max(followedSince(), proof.uncertainUntil());

  function take(rows: readonly LedgerRow[]): void {
    for (const row of unsettledInMemory(window, rows)) {
      if (!failing.add(row, row.received)) omit(hourAt(row.written), 1);
      else proof.foundInMemory(row);
    }
    for (const row of rows) if (!isFailure(row.outcome)) failing.settle(row);
  }

  function omit(hour: string, count: number): void {
    const sum = (omitted.get(hour) ?? 0) + count;
    if (sum > 0) omitted.set(hour, sum);
    else omitted.delete(hour);
  }

  /** Takes the failures of an hour, after its lines have settled those of others. */
  async function readHour(hour: string, files: readonly HourFile[]): Promise<void> {
    const before = omitted.get(hour) ?? 0;
    await settleByEach(files, () => failing.jobs.keys());
    const isNew = ({ written }: LogEntry) => before > 0 || written < followedSince();
    const foundIn = new Map<HourFile, string[]>();
    let left = 0;
    for (const file of files) {
      const found: string[] = [];
      foundIn.set(file, found);
      for await (const { entry, first } of failuresOf(file)) {
        if (entry.received < oldest() || !isNew(entry)) continue;
        const [row] = packRows([entry]);
        // Without room for one, the rest of its hour is only counted: a proof reads files.
        if (row === undefined || left > 0 || !(await hasAdded(row, first, files))) left += 1;
        else {
          proof.foundInFile(row, row.received <= readTo);
          if (row.received > readTo) found.push(row.job ?? '');
        }
      }
    }
    readTo = files.reduce((latest, { last }) => Math.max(latest, last), readTo);
    // A file does not settle what its rollup lists.
    const ofOthers = (file: HourFile) =>
      [...foundIn].flatMap(([other, jobs]) => (other === file ? [] : jobs));
    await settleByEach(files, ofOthers);
    // Memory may have counted more meanwhile.
    omit(hour, left - before);
  }

  /** The failing lines of a file that it does not settle itself, or all where its rollup leaves some out. */
  async function* failuresOf(file: HourFile): AsyncGenerator<{ entry: LogEntry; first: number }> {
    try {
      const { attention, attentionOmitted } = await file.attention();
      if (attentionOmitted === 0) {
        for (const { line, first } of attention)
          yield { entry: entryOf(line, Date.parse(line.receivedAt)), first: Date.parse(first) };
        return;
      }
      readTo = Math.max(readTo, file.last);
      for await (const entry of readFailingLines(await file.open())) yield { entry, first: entry.received };
    } catch (cause) {
      if (!(cause instanceof LedgerFileError)) throw cause;
      faults.note(cause.message, file.hour, true);
    }
  }

  /** False: there is no room for it, also without those that other lines settle. */
  async function hasAdded(row: LedgerRow, first: number, inHand: readonly HourFile[]): Promise<boolean> {
    if (failing.add(row, first)) return true;
    await prove(inHand);
    return failing.hasRoom() && failing.add(row, first);
  }

  function prove(inHand: readonly HourFile[] = []): Promise<void> {
    return proof.prove([...[...read.values()].flat(), ...inHand]);
  }

  function settleByEach(files: readonly HourFile[], jobsFor: (file: HourFile) => Iterable<string>) {
    return settleByFiles({ failing, faults, files, jobsFor: (file) => (stopped ? [] : jobsFor(file)) });
  }

  function forgetOld(): void {
    const since = oldest();
    failing.forgetBefore(since);
    for (const hour of [...read.keys(), ...omitted.keys()]) {
      if (startOfHour(hour) + HOUR > since) continue;
      read.delete(hour);
      omitted.delete(hour);
    }
    faults.forgetBefore(since);
  }

  const countOmitted = () => [...omitted.values()].reduce((sum, count) => sum + count, 0);

  async function run(): Promise<void> {
    forgetOld();
    for (let before = Number.POSITIVE_INFINITY; ; before = countOmitted()) {
      if (failing.hasRoom()) for (const hour of omitted.keys()) read.delete(hour);
      await readHours();
      // There was no room for them, until others were settled.
      if (countOmitted() === 0 || countOmitted() >= before || !failing.hasRoom()) return;
    }
  }

  async function readHours(): Promise<void> {
    const left: TimeRange[] = [{ since: clock(), until: Number.POSITIVE_INFINITY }];
    const hours = filter(hoursInOrder(store, 'oldest', oldest(), clock()), (hour) => !read.has(hour));
    for await (const { hour, files, faults: found } of readAhead(hours, HOURS_AHEAD, describe)) {
      if (stopped) return;
      for (const { message } of found) faults.note(message, hour, true);
      const range = rangeOfHour(hour);
      if (files === null || (range.since >= edge() && !omitted.has(hour))) {
        left.push(range);
        continue;
      }
      await readHour(hour, files);
      // Only now: a run that the store fails must come back to it.
      read.set(hour, files);
    }
    await prove();
    unread = left;
  }

  async function describe(hour: string): Promise<DescribedHour> {
    const described = await compacted.of(hour);
    // Its filters arrive while the hours before it are read. A failure to read them shows then.
    if (failing.jobs.size > 0) described.files?.[0]?.open().catch(() => undefined);
    return described;
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
    take,
    restart() {
      takenSince = Number.POSITIVE_INFINITY;
    },
    update() {
      const isCertain = error === null && !proof.isPending();
      if (running === null && isCertain && clock() - finishedAt < PAUSE) return Promise.resolve();
      running ??= runAndReport();
      return running;
    },
    jobs() {
      failing.forgetBefore(oldest());
      return failing.jobs;
    },
    some: (test) => [...failing.jobs.values()].some(({ rows }) => rows.some(test)),
    scope(sources) {
      const since = oldest();
      const unreadUntil = { since, until: Math.min(edge(), clock()) };
      const missing = mergeRanges([...unread, ...faults.hiding()], unreadUntil);
      // Lines in memory settle what was found in files only once it is proven.
      const doubted = { since: proof.doubtedSince(), until: clock() };
      const gaps = mergeRanges([...missing, doubted], { since, until: clock() });
      return {
        since: gaps.at(-1)?.until ?? since,
        unseen: describeUnseen(
          { since, gaps, faults: faults.texts(), omitted: countOmitted(), error },
          sources,
        ),
      };
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}

const ALWAYS: TimeRange = { since: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

async function* filter<T>(values: AsyncIterable<T>, isWanted: (value: T) => boolean): AsyncGenerator<T> {
  for await (const value of values) if (isWanted(value)) yield value;
}
