import { isFailure } from '../../../domain/failure-rules.js';
import type { SourceScope } from '../../../domain/rights.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { HOUR, hourAt, startOfHour } from '../../hours.js';
import { readAhead } from '../../read-ahead.js';
import type { CompactedHours, DescribedHour, HourFile } from '../log/compacted-hours.js';
import { entryOf, type LogEntry } from '../log/log-entry.js';
import { hoursInOrder } from '../log/log-hours.js';
import { mergeRanges, rangeOfHour, type TimeRange } from '../time-ranges.js';
import { createRowPacker, type LedgerRow } from '../window/ledger-row.js';
import { type RowWindow, snapshotOf, visitRows } from '../window/row-window.js';
import { describeUnseen } from './describe-unseen.js';
import { createFailingJobs, type FailingJob } from './failing-jobs.js';
import { failuresInMemory, isSettledInMemory } from './failures-in-memory.js';
import { createHourFaults } from './hour-faults.js';
import { readFailingLines } from './read-failing-lines.js';
import { settleByFiles } from './settle-by-files.js';

/** The part of a range that the open failures do not cover. */
export interface FailureScope {
  /** From here on, in milliseconds since the epoch, every delivery was looked at. */
  readonly since: number;
  /** What before it was not looked at, and why else failures may be missing; empty when the whole range is covered. */
  readonly unseen: readonly string[];
}

/** The open failures of the time that the service keeps results: from compacted files, and of the lines in memory. */
export interface FailureHistory {
  /** Reads the hours that were not read yet. Calls share one run. Never rejects: `scope` says what failed. */
  update(): Promise<void>;
  /** Takes rows that were written since this process follows the ledger. */
  follow(rows: readonly LedgerRow[]): void;
  /** Lines were passed that were not followed: reads them, and goes on with those in memory again. */
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
}

const HOURS_AHEAD = 8;
/** Milliseconds between runs, as every open dashboard asks every few seconds; none after a run that the store failed. */
const PAUSE = 10_000;

export function createFailureHistory(options: FailureHistoryOptions): FailureHistory {
  const { store, compacted, window, clock, retention, maxBytes, completeSince } = options;
  const packRows = createRowPacker();
  const failing = createFailingJobs(maxBytes);
  /** Hours that were read, with their files. */
  const taken = new Map<string, readonly HourFile[]>();
  /** Every file that was read ends before this instant. */
  let readTo = Number.NEGATIVE_INFINITY;
  /** Jobs with a failure received before lines that had been read when it was found: those may settle it. */
  let unproven = new Set<string>();
  /** From here on lines were not looked at that may settle one of those. */
  let doubtedSince = Number.POSITIVE_INFINITY;
  /** Failing lines that there was no room for, by hour. */
  const beyond = new Map<string, LeftOut>();
  const faults = createHourFaults();
  /** Hours with lines that are neither compacted nor in memory; everything before the first run. */
  let bare: readonly TimeRange[] = [ALWAYS];
  /** From here on every line was taken when it was written; null until the hours before have been read. */
  let followedSince: number | null = null;
  /** Lines written before this instant may settle failures that were found after they left memory. */
  let uncertainUntil = Number.NEGATIVE_INFINITY;
  let error: string | null = null;
  let running: Promise<void> | null = null;
  let finishedAt = Number.NEGATIVE_INFINITY;
  let stopped = false;

  const oldest = () => clock() - retention;
  /** Lines written from then on need not be read. */
  const edge = () => Math.max(followedSince ?? completeSince(), uncertainUntil);

  function takeHeld(row: LedgerRow, first: number): void {
    const hour = hourAt(row.written);
    // Lines of its hour that were never in memory may have been left out as well.
    if (!failing.add(row, first)) beyond.set(hour, withLine(beyond.get(hour), Number.NEGATIVE_INFINITY));
    else if (row.received < completeSince()) doubt(row);
  }

  /** Notes that lines which were read before, or left memory, may settle a failure. */
  function doubt({ job, received }: LedgerRow): void {
    if (job !== null) unproven.add(job);
    doubtedSince = Math.min(doubtedSince, received);
    if (followedSince !== null) uncertainUntil = Math.max(uncertainUntil, completeSince());
  }

  function follow(rows: readonly LedgerRow[]): void {
    if (followedSince === null) return;
    for (const row of rows) {
      if (!isFailure(row.outcome)) failing.settle(row);
      else if (!isSettledInMemory(window, row)) takeHeld(row, row.received);
    }
  }

  /** Takes the failures of an hour, after its lines have settled those of others. */
  async function takeHour(hour: string, files: readonly HourFile[]): Promise<void> {
    const before = beyond.get(hour);
    await settleByEach(files, () => failing.jobs.keys());
    const foundIn = new Map<HourFile, readonly string[]>();
    let left: LeftOut | undefined;
    const take = async (entry: LogEntry, first: number) => {
      if (!(await takeFiled(entry, first, { files, before, isFull: left !== undefined })))
        left = withLine(left, entry.received);
    };
    for (const file of files) foundIn.set(file, await takeFailures(file, take));
    readTo = files.reduce((latest, { last }) => Math.max(latest, last), readTo);
    // A file does not settle what its rollup lists.
    const ofOthers = (file: HourFile) =>
      [...foundIn].flatMap(([other, jobs]) => (other === file ? [] : jobs));
    await settleByEach(files, ofOthers);
    // Only now: a run that the store fails must come back to it.
    taken.set(hour, files);
    // Memory had lines of it without room meanwhile: it is taken again as a whole.
    if (beyond.get(hour) !== before) return;
    if (left === undefined) beyond.delete(hour);
    else beyond.set(hour, left);
  }

  /**
   * Takes the failing lines of a file that it does not settle itself, or all where its rollup leaves some out. Resolves to the jobs of
   * those that it lists.
   */
  async function takeFailures(
    file: HourFile,
    take: (entry: LogEntry, first: number) => Promise<void>,
  ): Promise<readonly string[]> {
    const found: string[] = [];
    await faults.noteIn(file, async () => {
      const { attention, attentionOmitted } = await file.attention();
      if (attentionOmitted > 0) {
        readTo = Math.max(readTo, file.last);
        for await (const entry of readFailingLines(await file.open())) await take(entry, entry.received);
        return;
      }
      for (const { line, first } of attention) {
        await take(entryOf(line, Date.parse(line.receivedAt)), Date.parse(first));
        if (line.jobId !== null) found.push(line.jobId);
      }
    });
    return found;
  }

  /** Takes a failing line of a file. Resolves to false where there is no room for it. */
  async function takeFiled(
    entry: LogEntry,
    first: number,
    { files, before, isFull }: HourInHand,
  ): Promise<boolean> {
    const isFollowed = followedSince !== null && entry.written >= followedSince;
    const isNew = before === undefined ? !isFollowed : entry.received >= before.from;
    if (entry.received < oldest() || !isNew) return true;
    const [row] = packRows([entry]);
    if (row === undefined) return true;
    if (isFull) return false;
    if (!failing.add(row, first)) {
      // What other lines settle need not be held.
      await prove(files);
      if (!failing.hasRoom() || !failing.add(row, first)) return false;
    }
    if (followedSince !== null || row.received <= readTo) doubt(row);
    return true;
  }

  /**
   * Settles what is unproven by the lines that had been read before.
   *
   * @param inHand files of the hour that is being taken
   */
  async function prove(inHand: readonly HourFile[] = []): Promise<void> {
    const jobs = unproven;
    unproven = new Set();
    try {
      await settleUnproven(
        [...jobs].filter((job) => failing.jobs.has(job)),
        inHand,
      );
    } catch (cause) {
      for (const job of jobs) unproven.add(job);
      throw cause;
    }
  }

  async function settleUnproven(jobs: readonly string[], inHand: readonly HourFile[]): Promise<void> {
    if (jobs.length === 0) return;
    const first = firstReceived(jobs);
    const since = [...taken].filter(([hour]) => startOfHour(hour) + HOUR > first);
    await settleByEach([...since.flatMap(([, files]) => files), ...inHand], () => jobs);
    if (followedSince === null) return;
    // Lines may have left memory since the failures were found.
    uncertainUntil = Math.max(uncertainUntil, completeSince());
    const unsettled = new Set(jobs);
    await visitRows(snapshotOf(window), (row) => {
      if (row.job !== null && unsettled.has(row.job)) failing.settle(row);
    });
  }

  function firstReceived(jobs: Iterable<string>): number {
    const received = [...jobs].flatMap((job) => failing.jobs.get(job)?.rows ?? []).map((row) => row.received);
    return received.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  }

  function settleByEach(files: readonly HourFile[], jobsFor: (file: HourFile) => Iterable<string>) {
    return settleByFiles({ failing, faults, files, jobsFor: (file) => (stopped ? [] : jobsFor(file)) });
  }

  function forgetOld(): void {
    const since = oldest();
    failing.forgetBefore(since);
    for (const hour of [...taken.keys(), ...beyond.keys()]) {
      if (startOfHour(hour) + HOUR > since) continue;
      taken.delete(hour);
      beyond.delete(hour);
    }
    faults.forgetBefore(since);
  }

  const omitted = () => [...beyond.values()].reduce((sum, { count }) => sum + count, 0);

  async function run(): Promise<void> {
    forgetOld();
    joinAgain();
    for (let before = Number.POSITIVE_INFINITY; ; before = omitted()) {
      if (failing.hasRoom()) for (const hour of beyond.keys()) taken.delete(hour);
      await readHours();
      // There was no room for them, until others were settled.
      if (omitted() === 0 || omitted() >= before || !failing.hasRoom()) return;
    }
  }

  async function readHours(): Promise<void> {
    /** What is written from then on is not read. */
    let skippedFrom = clock();
    const open: TimeRange[] = [];
    const unread = filter(hoursInOrder(store, 'oldest', oldest(), clock()), (hour) => !taken.has(hour));
    for await (const described of readAhead(unread, HOURS_AHEAD, describe)) {
      if (stopped) return;
      const { hour, files } = described;
      for (const { message } of described.faults) faults.note(message, hour, true);
      const range = rangeOfHour(hour);
      if (range.since >= edge() && !beyond.has(hour)) skippedFrom = Math.min(skippedFrom, range.since);
      else if (files !== null) await takeHour(hour, files);
      else open.push(range);
    }
    await prove();
    if (followedSince === null) {
      join();
      await prove();
    }
    // What left memory meanwhile was not looked at.
    bare = [...open, { since: skippedFrom, until: edge() }];
    doubtedSince = firstReceived(unproven);
  }

  async function describe(hour: string): Promise<DescribedHour> {
    const described = await compacted.of(hour);
    // Its filters arrive while the hours before it are taken. A failure to read them shows then.
    if (failing.jobs.size > 0) described.files?.[0]?.open().catch(() => undefined);
    return described;
  }

  /** Goes on with the lines in memory. In one turn of the event loop: none must come or go meanwhile. */
  function join(): void {
    for (const { rows, first } of failuresInMemory(window).values()) {
      for (const row of rows) takeHeld(row, first);
    }
    for (const { rows } of window.hoursBefore()) for (const row of rows) failing.settle(row);
    followedSince = completeSince();
    // Lines that were not in memory when a failure was found have settled it now.
    uncertainUntil = Math.min(uncertainUntil, followedSince);
  }

  /** Memory may reach further back than when it was joined: it is filled while the process serves. */
  function joinAgain(): void {
    if (followedSince !== null && completeSince() < followedSince) join();
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
    follow,
    restart() {
      followedSince = null;
    },
    update() {
      const isCertain = error === null && unproven.size === 0;
      if (running === null && isCertain && clock() - finishedAt < PAUSE) return Promise.resolve();
      running ??= runAndReport();
      return running;
    },
    jobs() {
      joinAgain();
      failing.forgetBefore(oldest());
      return followedSince === null ? failuresInMemory(window) : failing.jobs;
    },
    some: (test) => [...failing.jobs.values()].some(({ rows }) => rows.some(test)),
    scope(sources) {
      joinAgain();
      const since = oldest();
      const ranges = followedSince === null ? [ALWAYS] : bare;
      const unread = mergeRanges([...ranges, ...faults.hiding()], {
        since,
        until: Math.min(edge(), clock()),
      });
      // Lines in memory settle what was found in files only once it is proven.
      const doubted = { since: doubtedSince, until: clock() };
      const gaps = mergeRanges([...unread, doubted], { since, until: clock() });
      return {
        since: gaps.at(-1)?.until ?? since,
        unseen: describeUnseen({ since, gaps, faults: faults.texts(), omitted: omitted(), error }, sources),
      };
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/** Failing lines of an hour that there was no room for. */
interface LeftOut {
  readonly count: number;
  /** Lines received from then on are to be taken again. */
  readonly from: number;
}

function withLine(left: LeftOut | undefined, from: number): LeftOut {
  return { count: (left?.count ?? 0) + 1, from: Math.min(left?.from ?? from, from) };
}

/** An hour that is being taken. */
interface HourInHand {
  readonly files: readonly HourFile[];
  /** What there was no room for when it was taken before. */
  readonly before: LeftOut | undefined;
  readonly isFull: boolean;
}

const ALWAYS: TimeRange = { since: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };

async function* filter<T>(values: AsyncIterable<T>, isWanted: (value: T) => boolean): AsyncGenerator<T> {
  for await (const value of values) if (isWanted(value)) yield value;
}
