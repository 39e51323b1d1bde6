import type { LedgerEntry } from '../../ledger/parse-segment.js';
import { segmentName } from '../../ledger/segment-name.js';
import type { LedgerRow } from '../ledger-row.js';
import { comparePositions, type RowPosition } from '../row-position.js';
import type { SegmentLoader } from '../segment-loader.js';
import { createFilterCodes, jobHash } from './filter-codes.js';
import type { IndexMemory } from './index-memory.js';
import { createLineIndex, type IndexedLine } from './line-index.js';
import type { SegmentList } from './segment-list.js';
import { type HourPage, type HourSearch, takeRows } from './take-rows.js';

/**
 * An hour that is read from its segments: from the newest one backwards and only as far as its searches need, into an
 * index that the next search goes on with.
 */
export interface OpenHour {
  /** Whether a search from a position finds all of its lines in the index. */
  covers(position: RowPosition): boolean;
  readonly isInUse: boolean;
  /** Ends early, with a position to go on from, at the deadline. Throws `StoreError`; the next search goes on. */
  search(search: HourSearch): Promise<HourPage>;
}

export interface OpenHourOptions {
  /** Begin of the hour in milliseconds since the epoch. */
  readonly start: number;
  /** Folder of the hour. */
  readonly partition: string;
  readonly list: SegmentList;
  readonly loader: SegmentLoader;
  readonly memory: IndexMemory;
  /** Only lines received before this instant, in milliseconds since the epoch. */
  readonly before: number;
  readonly chunk?: number | undefined;
}

const HOUR = 3_600_000;
/** Milliseconds that one step of reading should take: searches look at the clock and at what was found in between. */
const STEP_TIME = 200;
const FIRST_STEP = 32;
/** Segments read at once: a store of objects takes some 30 ms for each. */
const CONCURRENCY = 32;
const MAX_STEP = 4096;

export function createOpenHour(options: OpenHourOptions): OpenHour {
  const { start, partition, list, loader, memory, before, chunk } = options;
  const index = createLineIndex({ memory, chunk });
  const codes = createFilterCodes();
  /** Latest times at which the searches in progress began. */
  const readers = new Set<{ readonly time: number }>();
  /** Times relative to `start`. The index holds lines of [bottom, top]. */
  let bottom = 0;
  let top = Math.min(HOUR, before - start) - 1;
  /** The index holds all lines received from this time on, as far as they lie between `bottom` and `top`. */
  let complete = Number.POSITIVE_INFINITY;
  const late: string[] = [];
  let unread: string[] = [];
  let stepSize = FIRST_STEP;
  let stepping: Promise<void> | null = null;
  let looking: Promise<void> | null = null;

  const isHeld = ({ time }: { readonly time: number }) => time >= bottom && time <= top;

  function indexed(entries: readonly LedgerEntry[]): IndexedLine[] {
    return entries
      .map(({ line }, number) => ({
        time: Date.parse(line.receivedAt) - start,
        number,
        code: codes.code(line),
        job: jobHash(line.jobId),
      }))
      .filter(({ time }) => time >= 0 && time < HOUR);
  }

  function add(name: string, entries: readonly LedgerEntry[]): void {
    let lines = indexed(entries).filter(isHeld);
    while (lines.length > 0 && !index.add(name, lines)) {
      if (!dropRead()) dropOldest(lines);
      lines = lines.filter(isHeld);
    }
  }

  /** Drops the lines that all searches in progress have passed. */
  function dropRead(): boolean {
    const latest = Math.max(...[...readers].map(({ time }) => time));
    if (readers.size === 0 || latest >= top) return false;
    top = latest;
    index.keep(bottom, top);
    return true;
  }

  /** Drops the older half. A search that comes so far begins with an index of its own. */
  function dropOldest(added: readonly IndexedLine[]): void {
    const held = index.times();
    const times = new Uint32Array(held.length + added.length);
    times.set(held);
    times.set(
      added.map(({ time }) => time),
      held.length,
    );
    times.sort();
    const middle = times[times.length >> 1] ?? 0;
    const next = middle > (times[0] ?? 0) ? middle : times.find((time) => time > middle);
    if (next === undefined) throw new Error('an instant of the ledger has more lines than an index may hold');
    bottom = next;
    index.keep(bottom, top);
  }

  async function read(names: string[]): Promise<void> {
    const keys = names.map((name) => `${partition}${name}.ndjson`);
    for await (const { key, entries } of loader.readLines(keys, CONCURRENCY)) {
      add(segmentName(key), entries);
      // Names that were read before the store failed are not read again.
      names.shift();
    }
  }

  async function readMore(): Promise<void> {
    const began = performance.now();
    if (late.length > 0) return read(late);
    if (unread.length === 0) unread = await list.next(stepSize);
    const count = unread.length;
    await read(unread);
    complete = Math.min(complete, list.complete() - start);
    const rate = count / Math.max(1, performance.now() - began);
    const size = Math.min(stepSize * 2, Math.ceil(rate * STEP_TIME));
    stepSize = Math.min(MAX_STEP, Math.max(FIRST_STEP, size));
  }

  /** One step for all searches that wait for it. */
  function step(): Promise<void> {
    stepping ??= readMore().finally(() => {
      stepping = null;
    });
    return stepping;
  }

  function lookForLate(): Promise<void> {
    looking ??= list
      .late()
      .then((names) => {
        late.push(...names);
      })
      .finally(() => {
        looking = null;
      });
    return looking;
  }

  /** Where the lines end that a search can be sure of. */
  const floor = () => Math.max(0, bottom, complete);
  const isNearlyFull = () => index.room() < index.size / 10;

  /** Makes room for a step; false where only lines are in the way that a search in progress has not passed. */
  function makeRoom(): boolean {
    return !isNearlyFull() || (dropRead() && !isNearlyFull());
  }

  async function find({ search, from, wanted, deadline }: HourSearch): Promise<HourPage> {
    const isOver = () => performance.now() >= deadline;
    await lookForLate();
    while (late.length > 0) {
      await step();
      if (late.length > 0 && isOver()) return { rows: [], next: from };
    }
    const hour = { start, partition, index, loader, floor, matches: codes.test(search) };
    const end = Math.max(0, search.since - start);
    const rows: LedgerRow[] = [];
    for (let at = from, isFirst = true; ; isFirst = false) {
      const taken = await takeRows(hour, { search, from: at, wanted: wanted - rows.length, deadline });
      rows.push(...taken.rows);
      at = taken.at;
      const isAtEnd = at.time - start <= end && at.id === '';
      if (rows.length >= wanted || isAtEnd) return { rows, next: null };
      if (isOver() && !isFirst) return { rows, next: at };
      if (at.time - start > floor()) continue;
      const madeWay = comparePositions(at, from) < 0;
      if (floor() === bottom && bottom > 0) return { rows, next: at };
      if (!makeRoom() && madeWay) return { rows, next: at };
      await step();
    }
  }

  return {
    covers({ time, id }) {
      const at = time - start;
      const latest = Math.min(HOUR - 1, id === '' ? at - 1 : at);
      return latest <= top && (bottom === 0 || at > bottom || (at === bottom && id !== ''));
    },
    get isInUse() {
      return readers.size > 0;
    },
    async search(options) {
      const reader = { time: options.from.time - start };
      readers.add(reader);
      try {
        return await find(options);
      } finally {
        readers.delete(reader);
      }
    },
  };
}
