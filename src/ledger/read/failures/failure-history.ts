import { isFailure } from '../../../domain/failure-rules.js';
import type { SourceScope } from '../../../domain/rights.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { HOUR, hourAt, startOfHour } from '../../hours.js';
import { LedgerFileError } from '../../parquet/ledger-file-error.js';
import { readAhead } from '../../read-ahead.js';
import type { CompactedHours, DescribedHour, HourFile } from '../log/compacted-hours.js';
import { entryOf, type LogEntry } from '../log/log-entry.js';
import { hoursInOrder } from '../log/log-hours.js';
import { mergeRanges, type TimeRange } from '../time-ranges.js';
import { createRowPacker, type LedgerRow } from '../window/ledger-row.js';
import { type RowWindow, snapshotOf, visitRows } from '../window/row-window.js';
import { describeUnseen } from './describe-unseen.js';
import { createFailingJobs, type FailingJob } from './failing-jobs.js';
import { failuresInMemory, isSettledInMemory } from './failures-in-memory.js';
import { findSettlingLines } from './find-settling-lines.js';
import { readFailingLines } from './read-failing-lines.js';

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
const FILES_AT_ONCE = 4;
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
  const unproven = new Set<string>();
  /** Failing lines that there was no room for, by hour: how many, and when the first of them was received. */
  const beyond = new Map<string, { readonly count: number; readonly from: number }>();
  /** What is damaged, the hour of it, and whether lines may be missing. */
  const faults = new Map<string, TimeRange & { readonly hidesLines: boolean }>();
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
    if (!failing.add(row, first)) leaveOut(row, hourAt(row.written));
    else if (row.job !== null && row.received < completeSince()) unproven.add(row.job);
  }

  function leaveOut({ received }: LedgerRow, hour: string): void {
    const { count, from } = beyond.get(hour) ?? { count: 0, from: received };
    beyond.set(hour, { count: count + 1, from: Math.min(from, received) });
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
    const leftFrom = beyond.get(hour)?.from ?? null;
    beyond.delete(hour);
    await settleByEach(files, () => failing.jobs.keys());
    taken.set(hour, files);
    const foundIn = new Map<HourFile, readonly string[]>();
    for (const file of files) foundIn.set(file, await takeFailures(file, leftFrom));
    readTo = files.reduce((latest, { last }) => Math.max(latest, last), readTo);
    // A file does not settle what its rollup lists.
    const ofOthers = (file: HourFile) =>
      [...foundIn].flatMap(([other, jobs]) => (other === file ? [] : jobs));
    await settleByEach(files, ofOthers);
  }

  /**
   * Takes the failing lines of a file that it does not settle itself, or all where its rollup leaves some out. Resolves to the jobs of
   * those that it lists.
   *
   * @param leftFrom receipt of the first that there was no room for before; null where there was room for all
   */
  async function takeFailures(file: HourFile, leftFrom: number | null): Promise<readonly string[]> {
    const found: string[] = [];
    const takeInto = createTaking(file.hour, leftFrom);
    await guarded(file, async () => {
      const { attention, attentionOmitted } = await file.attention();
      if (attentionOmitted > 0) {
        readTo = Math.max(readTo, file.last);
        for await (const entry of readFailingLines(await file.open())) await takeInto(entry, entry.received);
        return;
      }
      for (const { line, first } of attention) {
        await takeInto(entryOf(line, Date.parse(line.receivedAt)), Date.parse(first));
        if (line.jobId !== null) found.push(line.jobId);
      }
    });
    return found;
  }

  function createTaking(
    hour: string,
    leftFrom: number | null,
  ): (entry: LogEntry, first: number) => Promise<void> {
    let isFull = false;
    return async (entry, first) => {
      const isFollowed = followedSince !== null && entry.written >= followedSince;
      const isNew = leftFrom === null ? !isFollowed : entry.received >= leftFrom;
      if (entry.received < oldest() || !isNew) return;
      const [row] = packRows([entry]);
      if (row === undefined) return;
      if (!isFull && !failing.add(row, first)) {
        // What other lines settle need not be held.
        await prove();
        isFull = !failing.hasRoom() || !failing.add(row, first);
      }
      if (isFull) leaveOut(row, hour);
      else if (row.job !== null && (followedSince !== null || row.received <= readTo)) unproven.add(row.job);
      if (followedSince !== null) uncertainUntil = Math.max(uncertainUntil, completeSince());
    };
  }

  /** Settles what is unproven by the lines that had been read before. */
  async function prove(): Promise<void> {
    const jobs = [...unproven].filter((job) => failing.jobs.has(job));
    unproven.clear();
    const received = jobs.flatMap((job) => failing.jobs.get(job)?.rows ?? []).map((row) => row.received);
    const first = received.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    const since = [...taken].filter(([hour]) => startOfHour(hour) + HOUR > first);
    await settleByEach(
      since.flatMap(([, files]) => files),
      () => jobs,
    );
    if (jobs.length === 0 || followedSince === null) return;
    const unsettled = new Set(jobs);
    await visitRows(snapshotOf(window), (row) => {
      if (row.job !== null && unsettled.has(row.job)) failing.settle(row);
    });
  }

  async function settleByEach(
    files: readonly HourFile[],
    jobsFor: (file: HourFile) => Iterable<string>,
  ): Promise<void> {
    const settled = readAhead(files, FILES_AT_ONCE, (file) => settleBy(file, jobsFor(file)));
    for await (const _ of settled);
  }

  async function settleBy(file: HourFile, jobs: Iterable<string>): Promise<void> {
    const probes = new Map(
      [...jobs].flatMap((job) => {
        const known = failing.jobs.get(job);
        return known === undefined ? [] : [[job, known.probe] as const];
      }),
    );
    if (probes.size === 0 || stopped) return;
    const onFault = (text: string, hidesLines: boolean) => noteFault(text, file.hour, hidesLines);
    await guarded(file, async () => {
      for (const line of await findSettlingLines(await file.open(), probes, onFault)) failing.settle(line);
    });
  }

  async function guarded(file: HourFile, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (cause) {
      if (!(cause instanceof LedgerFileError)) throw cause;
      noteFault(cause.message, file.hour, true);
    }
  }

  function noteFault(text: string, hour: string, hidesLines: boolean): void {
    faults.set(text, { ...rangeOf(hour), hidesLines });
  }

  function forgetOld(): void {
    const since = oldest();
    failing.forgetBefore(since);
    for (const hour of [...taken.keys(), ...beyond.keys()]) {
      if (startOfHour(hour) + HOUR > since) continue;
      taken.delete(hour);
      beyond.delete(hour);
    }
    for (const [text, { until }] of faults) if (until <= since) faults.delete(text);
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
    const began = edge();
    const open: TimeRange[] = [];
    const unread = filter(hoursInOrder(store, 'oldest', oldest(), clock()), (hour) => !taken.has(hour));
    for await (const described of readAhead(unread, HOURS_AHEAD, describe)) {
      if (stopped) return;
      const { hour, files } = described;
      for (const { message } of described.faults) noteFault(message, hour, true);
      const { since, until } = rangeOf(hour);
      if (since >= edge() && !beyond.has(hour)) continue;
      if (files !== null) await takeHour(hour, files);
      else open.push({ since, until: Math.min(until, edge()) });
    }
    await prove();
    if (followedSince === null) {
      join();
      // What left memory meanwhile was not looked at.
      open.push({ since: began, until: edge() });
      await prove();
    }
    bare = open;
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
    update() {
      if (running === null && error === null && clock() - finishedAt < PAUSE) return Promise.resolve();
      running ??= runAndReport();
      return running;
    },
    jobs() {
      joinAgain();
      return followedSince === null ? failuresInMemory(window) : failing.jobs;
    },
    some: (test) => [...failing.jobs.values()].some(({ rows }) => rows.some(test)),
    scope(sources) {
      joinAgain();
      const since = oldest();
      const hiding = [...faults.values()].filter(({ hidesLines }) => hidesLines);
      const ranges = followedSince === null ? [ALWAYS] : bare;
      const gaps = mergeRanges([...ranges, ...hiding], { since, until: Math.min(edge(), clock()) });
      return {
        since: gaps.at(-1)?.until ?? since,
        unseen: describeUnseen(
          { since, gaps, faults: [...faults.keys()], omitted: omitted(), error },
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

function rangeOf(hour: string): TimeRange {
  const since = startOfHour(hour);
  return { since, until: since + HOUR };
}
