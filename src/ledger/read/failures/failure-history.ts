import { isFailure } from '../../../domain/failure-rules.js';
import type { SourceScope } from '../../../domain/rights.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { HOUR, hourAt, startOfHour } from '../../hours.js';
import { LedgerFileError } from '../../parquet/ledger-file-error.js';
import { readAhead } from '../../read-ahead.js';
import type { CompactedHours, DescribedHour, HourFile } from '../log/compacted-hours.js';
import { entryOf } from '../log/log-entry.js';
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
  /** Hours that were read, oldest first, with their files. */
  const taken = new Map<string, readonly HourFile[]>();
  /** Failing lines that there was no room for, by hour: how many, and when the first of them was received. */
  const beyond = new Map<string, { readonly count: number; readonly from: number }>();
  /** Jobs whose failure was received before the lines in memory begin: what settles it may have been written before them. */
  const early = new Set<string>();
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

  function take(row: LedgerRow, first: number, hour: string): void {
    if (!failing.add(row, first)) leaveOut(row, hour);
  }

  function takeHeld(row: LedgerRow, first: number): void {
    take(row, first, hourAt(row.written));
    if (row.job !== null && row.received < completeSince()) early.add(row.job);
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

  /**
   * The failing lines of a file that it does not settle itself, or all where its rollup leaves some out: those that were not followed,
   * or, where there was no room before, those received since an instant.
   */
  async function failingLines(
    file: HourFile,
    leftFrom: number | null,
  ): Promise<{ lines: [LedgerRow, number][]; areOpen: boolean }> {
    const { attention, attentionOmitted } = await file.attention();
    const lines: [LedgerRow, number][] = [];
    const add = (entry: ReturnType<typeof entryOf>, first: number) => {
      const [row] = packRows([entry]);
      const isFollowed = followedSince !== null && entry.written >= followedSince;
      const isLeft = leftFrom === null ? !isFollowed : entry.received >= leftFrom;
      if (row !== undefined && row.received >= oldest() && isLeft) lines.push([row, first]);
    };
    if (attentionOmitted === 0) {
      for (const { line, first } of attention)
        add(entryOf(line, Date.parse(line.receivedAt)), Date.parse(first));
      return { lines, areOpen: true };
    }
    for await (const entry of readFailingLines(await file.open())) add(entry, entry.received);
    return { lines, areOpen: false };
  }

  /** Takes the failures of an hour, settles those of earlier hours, and its own by hours that were read before. */
  async function takeHour({ hour, files }: DescribedHour): Promise<void> {
    const leftFrom = beyond.get(hour)?.from ?? null;
    beyond.delete(hour);
    const late = [...taken].filter(([other]) => other > hour);
    taken.set(hour, files ?? []);
    /** The jobs whose failures a file holds alone, and does not settle. */
    const openIn = new Map<HourFile, Set<string>>();
    let own: string[] = [];
    let isFull = false;

    async function settleOwn(): Promise<void> {
      const others = [...late, ...hoursBefore(own, hour)].flatMap(([, held]) => held);
      await settleByEach([...(files ?? []), ...others], own, openIn);
      if (followedSince !== null && own.length > 0) {
        uncertainUntil = Math.max(uncertainUntil, completeSince());
        await settleByMemory(new Set(own));
      }
      own = own.filter((job) => failing.jobs.has(job));
    }

    for (const file of files ?? []) {
      const nothing = { lines: [], areOpen: true };
      const { lines, areOpen } = await guarded(file, () => failingLines(file, leftFrom), nothing);
      const jobs = lines.flatMap(([{ job }]) => job ?? []);
      openIn.set(file, new Set(areOpen ? jobs.filter((job) => !failing.jobs.has(job)) : []));
      for (const [row, first] of lines) {
        if (!isFull && !failing.add(row, first)) {
          // What later lines settle need not be held.
          await settleOwn();
          isFull = !failing.add(row, first);
        }
        if (isFull) leaveOut(row, hour);
        else if (row.job !== null) own.push(row.job);
      }
    }
    await settleByEach(files ?? [], [...failing.jobs.keys()], openIn);
    await settleOwn();
  }

  /** Hours in which lines were written that settle failures received before their own hour began. */
  function hoursBefore(jobs: readonly string[], hour: string): [string, readonly HourFile[]][] {
    const received = jobs.flatMap((job) => (failing.jobs.get(job)?.rows ?? []).map((row) => row.received));
    const first = received.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    if (first >= startOfHour(hour)) return [];
    return [...taken].filter(([other]) => other < hour && startOfHour(other) + HOUR > first);
  }

  /** @param openIn jobs whose failures a file does not settle */
  async function settleByEach(
    files: readonly HourFile[],
    jobs: readonly string[],
    openIn: ReadonlyMap<HourFile, ReadonlySet<string>> = new Map(),
  ): Promise<void> {
    const settled = readAhead(files, FILES_AT_ONCE, (file) => settleBy(file, jobs, openIn.get(file)));
    for await (const _ of settled);
  }

  async function settleBy(
    file: HourFile,
    jobs: readonly string[],
    except?: ReadonlySet<string>,
  ): Promise<void> {
    const probes = new Map(
      jobs.flatMap((job) => {
        const known = except?.has(job) ? undefined : failing.jobs.get(job);
        return known === undefined ? [] : [[job, known.probe] as const];
      }),
    );
    if (probes.size === 0 || stopped) return;
    await guarded(
      file,
      async () => {
        const { lines, damage } = await findSettlingLines(await file.open(), probes, (text) =>
          noteFault(text, file.hour, false),
        );
        if (damage !== null) noteFault(damage, file.hour);
        for (const line of lines) failing.settle(line);
      },
      undefined,
    );
  }

  async function settleByMemory(jobs: ReadonlySet<string>): Promise<void> {
    if (jobs.size === 0) return;
    await visitRows(snapshotOf(window), (row) => {
      if (row.job !== null && jobs.has(row.job)) failing.settle(row);
    });
  }

  async function guarded<T>(file: HourFile, work: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      if (!(cause instanceof LedgerFileError)) throw cause;
      noteFault(cause.message, file.hour);
      return otherwise;
    }
  }

  function noteFault(text: string, hour: string, hidesLines = true): void {
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
      for (const { message } of described.faults) noteFault(message, hour);
      const { since, until } = rangeOf(hour);
      if (since >= edge() && !beyond.has(hour)) continue;
      if (files !== null) await takeHour(described);
      else open.push({ since, until: Math.min(until, edge()) });
    }
    if (followedSince === null) {
      join();
      // What left memory meanwhile was not looked at.
      open.push({ since: began, until: edge() });
    }
    bare = open;
    const jobs = [...early];
    early.clear();
    await settleByEach(
      hoursBefore(jobs, hourAt(clock() + HOUR)).flatMap(([, files]) => files),
      jobs,
    );
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
