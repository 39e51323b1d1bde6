import { encodeTime } from 'ulid';
import { ledgerPartition } from '../archive/layout.js';
import { listPartition, listPartitions, startOfPartition } from '../archive/ledger/ledger-reader.js';
import { ownCopy, segmentName, writtenAt } from '../archive/ledger/segment-name.js';
import type { ObjectStore } from '../store/object-store.js';
import type { LedgerRow } from './ledger-row.js';
import type { RemovedSegments } from './removed-segments.js';
import type { RowWindow } from './row-window.js';
import type { SegmentLoader } from './segment-loader.js';
import { floorTo, HOUR } from './time-ranges.js';

export interface LedgerTailOptions {
  readonly store: ObjectStore;
  readonly loader: SegmentLoader;
  readonly window: RowWindow;
  readonly clock: () => number;
  /** How far back rows are held, in milliseconds. */
  readonly windowMs: number;
  readonly maxRows: number;
  readonly removed: RemovedSegments;
  /** Called whenever more of the ledger is known. */
  readonly onProgress: () => void;
}

interface KnownPartition {
  /**
   * Names of the segments that were read, with the time of receipt of the oldest line. `forgetNames` removes those whose
   * lines are no longer held.
   */
  readonly names: Map<string, number>;
  /** When the newest known segment was written. */
  newest: number;
  /** When a poll last listed the whole `SKEW`, and how many keys it found. */
  wideAt: number;
  wideKeys: number;
}

/** Keeps a window of rows in step with the recent ledger in the store. Calls must not overlap. */
export interface LedgerTail {
  /** First load, newest first. After an error it can be called again and continues where it failed. */
  load(): Promise<void>;
  /** Reads new segments where they usually appear. */
  poll(): Promise<void>;
  /** Reads new segments of all hours of the last day: late ones of long uploads, and of clocks that are wrong. */
  sweep(): Promise<void>;
  /** All lines received at or after this instant are in the window. */
  completeSince(): number;
  /**
   * All lines received at or after this instant are in the window or were in it since the first load: `maxRows` does not
   * move it.
   */
  seenSince(): number;
  /** When the oldest line of a segment was received, by the name of the segment; undefined where it is not known. */
  oldestLine(partition: string, name: string): number | undefined;
}

const MINUTE = 60_000;
/** Segments are named by their writer's clock. A poll finds those that are behind the newest by up to this. */
const SKEW = 3 * MINUTE;
/** Where the segments of `SKEW` are more than one page of a listing, most polls list only this much. */
const NEAR = 15_000;
const PAGE = 1000;
/** How far back a poll reads. Deliveries that take longer are found by the sweep. */
const USUAL_DELAY = 10 * MINUTE;
const SWEPT = 24 * HOUR;
/** Segments per step. After each step the rows are searchable, so that pages need not wait for the whole load. */
const STEP = 64;

export function createLedgerTail(options: LedgerTailOptions): LedgerTail {
  const { store, loader, window, clock, windowMs, maxRows, removed, onProgress } = options;
  const partitions = new Map<string, KnownPartition>();
  let complete = Number.POSITIVE_INFINITY;
  let seen = Number.POSITIVE_INFINITY;
  /** Names of segments written since are remembered. Older segments are not read again. */
  let namesSince = 0;

  function knownOf(partition: string): KnownPartition {
    const known = partitions.get(partition);
    if (known) return known;
    const first = {
      names: new Map<string, number>(),
      newest: 0,
      wideAt: Number.NEGATIVE_INFINITY,
      wideKeys: 0,
    };
    partitions.set(partition, first);
    return first;
  }

  /**
   * Reads the new segments among a partition's keys. A segment written before `complete` holds only older lines, because
   * a line is received before it is written, by the same clock.
   */
  async function take(partition: string, keys: readonly string[], onStep?: (lastKey: string) => void) {
    const known = knownOf(partition);
    const fresh = keys.filter((key) => !known.names.has(segmentName(key)));
    for (let start = 0; start < fresh.length; start += STEP) {
      if (window.size >= maxRows * 2) return false;
      const step = fresh.slice(start, start + STEP);
      // Added together: every addition walks the rows of its hour, and segments of busy replicas are small.
      const added: LedgerRow[][] = [];
      try {
        for await (const { key, rows } of loader.read(step)) {
          const oldest = rows.reduce((time, row) => Math.min(time, row.time), Number.POSITIVE_INFINITY);
          known.names.set(ownCopy(segmentName(key)), oldest);
          known.newest = Math.max(known.newest, writtenAt(segmentName(key)) ?? 0);
          added.push(rows);
        }
      } finally {
        // Segments that were read before the store failed are not read again.
        window.add(added.flat());
      }
      const last = step.at(-1);
      if (last !== undefined) onStep?.(last);
    }
    return true;
  }

  function trim(): void {
    const dropped = window.dropOver(maxRows);
    if (dropped !== null) complete = Math.max(complete, dropped);
    const oldest = floorTo(HOUR, clock() - windowMs);
    seen = Math.max(seen, oldest);
    complete = Math.max(complete, oldest);
    window.dropBefore(complete);
    for (const partition of partitions.keys()) {
      if (endOf(partition) <= Math.min(complete, sweptSince())) partitions.delete(partition);
    }
  }

  function sweptSince(): number {
    return Math.max(seen, clock() - SWEPT);
  }

  /** Of a busy hour only the last minutes are held. The names of the other segments need no memory: see `isNew`. */
  function forgetNames(before: number): void {
    namesSince = Math.max(namesSince, before);
    const oldest = encodeTime(namesSince);
    for (const { names } of partitions.values()) {
      for (const name of names.keys()) if (name < oldest) names.delete(name);
    }
  }

  function isNew(key: string): boolean {
    const written = writtenAt(segmentName(key));
    return written === null || written >= namesSince;
  }

  async function load(): Promise<void> {
    const since = floorTo(HOUR, clock() - windowMs);
    const [folders, compacted] = await Promise.all([
      collect(listPartitions(store, { since: new Date(since).toISOString() })),
      removed.compactedHours(since, clock()),
    ]);
    const partitions = new Set([...folders, ...[...compacted].map(partitionOf)]);
    let reached = since;
    for (const partition of [...partitions].sort().reverse()) {
      // No hour between this one and the one before it in the loop has segments.
      complete = Math.min(complete, endOf(partition));
      onProgress();
      const keys = await collect(listPartition(store, partition));
      if (compacted.has(startOf(partition)) && (await removed.isIncomplete(startOf(partition), keys))) {
        reached = endOf(partition);
        break;
      }
      const whole = await take(partition, keys.reverse(), (lastKey) => {
        const written = Math.max(
          writtenAt(segmentName(lastKey)) ?? Number.POSITIVE_INFINITY,
          startOf(partition),
        );
        complete = Math.min(complete, written);
        onProgress();
      });
      if (whole) complete = Math.min(complete, startOf(partition));
      onProgress();
      if (window.size >= maxRows) break;
    }
    if (window.size < maxRows) complete = Math.min(complete, reached);
    seen = complete;
    namesSince = Math.max(0, complete);
    trim();
  }

  /** Reads the new ones of the segments written since an instant. */
  async function readNew(
    partition: string,
    writtenSince: number,
  ): Promise<{ readonly listed: number; readonly whole: boolean }> {
    const startAfter = writtenSince > 0 ? `${partition}${encodeTime(writtenSince)}` : undefined;
    const keys = await collect(listPartition(store, partition, startAfter ? { startAfter } : undefined));
    return { listed: keys.length, whole: await take(partition, keys.filter(isNew)) };
  }

  async function poll(): Promise<void> {
    const now = clock();
    const instants = [now - USUAL_DELAY, now, now + MINUTE];
    for (const partition of new Set(instants.map(partitionOf))) {
      const known = knownOf(partition);
      if (known.wideKeys > PAGE && now - known.wideAt < MINUTE) {
        await readNew(partition, known.newest - NEAR);
      } else {
        known.wideKeys = (await readNew(partition, known.newest - SKEW)).listed;
        known.wideAt = now;
      }
    }
    trim();
    onProgress();
  }

  async function sweep(): Promise<void> {
    const started = clock();
    const range = { since: new Date(sweptSince()).toISOString() };
    let whole = true;
    for (const partition of await collect(listPartitions(store, range))) {
      whole = (await readNew(partition, namesSince)).whole && whole;
    }
    trim();
    // Late segments of hours before the window are read too, so that no line is missing from the figures.
    if (whole) forgetNames(Math.max(0, Math.min(complete, started - SKEW)));
    onProgress();
  }

  return {
    load,
    poll,
    sweep,
    completeSince: () => complete,
    seenSince: () => Math.min(seen, complete),
    oldestLine: (partition, name) => partitions.get(partition)?.names.get(name),
  };
}

function partitionOf(time: number): string {
  return ledgerPartition(new Date(time).toISOString());
}

/** Infinity for a foreign folder: it never counts as complete. */
function startOf(partition: string): number {
  const time = startOfPartition(partition);
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}

function endOf(partition: string): number {
  return startOf(partition) + HOUR;
}

async function collect(keys: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const key of keys) all.push(key);
  return all;
}
