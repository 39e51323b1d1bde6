import type { ObjectStore } from '../../../store/object-store.js';
import { firstOpenHour, HOUR, hourAt, openHours } from '../../hours.js';
import { createLogFollower } from '../../log/follow-log.js';
import { type NewSegment, newSegmentsOf } from '../../log/new-segments.js';
import { type SegmentPlace, segmentKey } from '../../segment-key.js';
import type { CompactedHours } from '../log/compacted-hours.js';
import { lastNumbers } from '../log/hour-segments.js';
import { entryOf, type LogEntry } from '../log/log-entry.js';
import { EVERYTHING, endOf } from '../log/log-filter.js';
import { END_OF_LOG } from '../log/log-position.js';
import { type LogSearch, scanLog } from '../log/scan-log.js';
import { floorTo } from '../time-ranges.js';
import { createRowPacker, type LedgerRow } from './ledger-row.js';
import type { RowWindow } from './row-window.js';

export interface LedgerTailOptions {
  readonly store: ObjectStore;
  readonly compacted: CompactedHours;
  readonly window: RowWindow;
  readonly clock: () => number;
  /** How far back rows are held, in milliseconds. */
  readonly windowMs: number;
  /** Bytes of rows: loading ends there, and later the oldest rows are dropped. */
  readonly maxBytes: () => number;
  readonly onSkipped: LogSearch['onSkipped'];
  readonly onFault: LogSearch['onFault'];
  /** Called whenever the load made progress. */
  readonly onProgress: () => void;
  /** Called with rows that came into the window, once `completeSince` says so. */
  readonly onRows: (rows: readonly LedgerRow[]) => void;
  /** Called when all rows are forgotten, and following begins again: the store, this process or its clock was away for hours. */
  readonly onRestart: () => void;
}

/** Keeps the newest rows of the ledger in memory. Calls must not overlap, but `poll` may be called while `load` runs. */
export interface LedgerTail {
  /** Reads backwards, until memory is full, unless that was done. After an error it can be called again and continues where it failed. */
  load(): Promise<void>;
  /** Whether nothing is left to be loaded. */
  isLoaded(): boolean;
  /** Reads what was written since the last call. */
  poll(): Promise<void>;
  /** Ends a load after its step. */
  stop(): void;
  /** Every line written at or after this instant is in the window. */
  completeSince(): number;
  /** The same of lines that are in the window, or left it because it was full. */
  seenSince(): number;
}

interface HourProgress {
  readonly hour: string;
  readonly read: Map<string, number>;
}

const ADDED_AT_ONCE = 512;
/** A full window loses a sixteenth at once: dropping rows copies the others of their hour, 45 µs for each new row if done per segment. */
const KEPT_OF_FULL = 15 / 16;

export function createLedgerTail(options: LedgerTailOptions): LedgerTail {
  const { store, compacted, window, clock, maxBytes, onSkipped, onFault } = options;
  const packRows = createRowPacker();
  /** The store's time: whether an hour is whole goes by it. */
  const now = () => clock() + store.clockOffset();
  /** How far hours were read. */
  const hours = new Map<string, HourProgress>();
  const open = (hour: string) => openAt(hour, new Map());
  const onLost = (lost: SegmentPlace) => onFault(`${segmentKey(lost)}, which is missing`, segmentKey(lost));
  const log = createLogFollower({ store, hours, clock: now, open, onLost });
  /** The first hour that was not read to its end. */
  let unfinished = 0;
  let complete = Number.POSITIVE_INFINITY;
  let seen = Number.POSITIVE_INFINITY;
  /** Rows written before this instant were dropped, also while a load reads on behind them. */
  let droppedBefore = Number.NEGATIVE_INFINITY;
  let isFull = false;
  let isLoaded = false;
  let isStopped = false;
  let begun: Promise<void> | null = null;

  /** The window begins with an hour: its figures come from memory or from a rollup. */
  const beginning = () => floorTo(HOUR, clock() - options.windowMs);

  function openAt(hour: string, read: Map<string, number>) {
    const place = { hour, read };
    hours.set(hour, place);
    return place;
  }

  function reached(time: number): void {
    complete = Math.min(complete, Math.max(time, droppedBefore));
    seen = Math.min(seen, time);
  }

  function trim(): void {
    const oldest = beginning();
    const dropped = window.bytes > maxBytes() ? window.dropOver(maxBytes() * KEPT_OF_FULL) : null;
    if (dropped !== null) isFull = true;
    droppedBefore = Math.max(droppedBefore, dropped ?? oldest, oldest);
    complete = Math.max(complete, droppedBefore);
    seen = Math.max(seen, oldest);
    window.dropBefore(oldest);
  }

  /** Where following begins: everything before is the load's. Once is enough, but for a store that fails or was away. */
  function follow(): Promise<void> {
    if (begun !== null && Math.abs(firstOpenHour(now()) - unfinished) > HOUR) restart();
    begun ??= begin().catch((error: unknown) => {
      begun = null;
      throw error;
    });
    return begun;
  }

  async function begin(): Promise<void> {
    const time = now();
    // At once: a poll that begins while this waits for the store would take it that hours passed.
    unfinished = firstOpenHour(time);
    await Promise.all(openHours(time).map(async (hour) => openAt(hour, await lastNumbers(store, hour))));
  }

  /** Whole hours passed unread, and their segments may be gone: what memory claims would have a hole. */
  function restart(): void {
    begun = null;
    hours.clear();
    complete = Number.POSITIVE_INFINITY;
    seen = Number.POSITIVE_INFINITY;
    droppedBefore = Number.NEGATIVE_INFINITY;
    isFull = false;
    isLoaded = false;
    window.dropBefore(Number.POSITIVE_INFINITY);
    options.onRestart();
  }

  /** What is new in the open hours, and in one that became whole since the last poll. */
  async function* newSegments(time: number): AsyncGenerator<NewSegment<HourProgress>> {
    if (unfinished < firstOpenHour(time)) {
      const hour = hourAt(unfinished);
      yield* newSegmentsOf(store, hours.get(hour) ?? open(hour), onLost);
    }
    yield* log.newSegments();
  }

  /** Some lines at a time: a fast store would otherwise bring them faster than they are compressed. */
  async function add(entries: readonly LogEntry[]): Promise<LedgerRow[]> {
    const all: LedgerRow[] = [];
    for (let first = 0; first < entries.length; first += ADDED_AT_ONCE) {
      const rows = packRows(entries.slice(first, first + ADDED_AT_ONCE));
      for (const row of rows) all.push(row);
      window.add(rows);
      await Promise.all([...new Set(rows.map(({ block }) => block))].map(({ packed }) => packed));
    }
    return all;
  }

  /** The lines of a segment; those that cannot be parsed are noted. */
  function take({ place, writer, number, segment }: NewSegment): LogEntry[] {
    const { hour } = place;
    const { entries, brokenLines, newerLines, writtenAt } = segment.parse();
    if (brokenLines.length + newerLines.length > 0)
      onSkipped(segmentKey({ hour, writer, number }), {
        broken: brokenLines.length,
        newer: newerLines.length,
      });
    return entries.map(({ line }) => entryOf(line, writtenAt));
  }

  return {
    async load() {
      const following = follow();
      await following;
      if (isLoaded) return;
      const before = Number.isFinite(complete) ? { ...END_OF_LOG, written: complete } : END_OF_LOG;
      const range = { order: 'newest', since: beginning(), before } as const;
      const steps = scanLog(store, compacted, { range, filter: EVERYTHING, onSkipped, onFault });
      for await (const { entries, at } of steps) {
        const rows = await add(entries);
        if (begun !== following) return;
        reached(endOf({ ...range, before: at }));
        options.onRows(rows);
        trim();
        options.onProgress();
        if (isStopped) return;
        if (isFull) break;
      }
      if (!isFull) reached(range.since);
      isLoaded = true;
    },
    isLoaded: () => isLoaded,
    async poll() {
      const time = now();
      await follow();
      for await (const each of newSegments(time)) {
        const entries = take(each);
        each.place.read.set(each.writer, each.number);
        options.onRows(await add(entries));
        trim();
      }
      // The earlier of both: until the store answers, a clock that jumped is not noticed.
      unfinished = firstOpenHour(Math.min(time, now()));
      for (const hour of hours.keys()) if (hour < hourAt(unfinished - HOUR)) hours.delete(hour);
      trim();
    },
    stop() {
      isStopped = true;
    },
    completeSince: () => complete,
    seenSince: () => Math.min(seen, complete),
  };
}
