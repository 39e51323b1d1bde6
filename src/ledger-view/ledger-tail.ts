import { encodeTime } from 'ulid';
import { ledgerPartition } from '../ledger/ledger-keys.js';
import { listPartition, listPartitions, startOfPartition } from '../ledger/ledger-reader.js';
import { ownCopy, segmentName, writtenAt } from '../ledger/segment-name.js';
import type { ObjectStore } from '../store/object-store.js';
import type { LedgerRow } from './ledger-row.js';
import type { RemovedSegments } from './removed-segments.js';
import type { RowLimit, RowWindow } from './row-window.js';
import type { SegmentLoader } from './segment-loader.js';
import { floorTo, HOUR } from './time-ranges.js';

export interface LedgerTailOptions {
  readonly store: ObjectStore;
  readonly loader: SegmentLoader;
  readonly window: RowWindow;
  readonly clock: () => number;
  /** How far back rows are held, in milliseconds. */
  readonly windowMs: number;
  /** The first load ends when the window holds this much; later the oldest rows are dropped. */
  readonly limit: RowLimit;
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
   * All lines received at or after this instant are in the window or were in it since the first load: `limit` does not
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
/**
 * Segments per step, and bytes of rows that end it. After each step the rows are searchable, so that pages need not wait for
 * the whole load, and the limit is checked.
 */
const STEP = 64;
const STEP_BYTES = 1024 * 1024;
/** The name of a read segment, its entry and its time. */
const NAME_BYTES = 160;

export function createLedgerTail(options: LedgerTailOptions): LedgerTail {
  const { store, loader, window, clock, windowMs, limit, removed, onProgress } = options;
  // Each segment holds a line at least, as a rule: the newest of half as many fill the window.
  const maxKeys = Math.max(PAGE, Math.ceil(limit.bytes / NAME_BYTES));
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
   * Reads the new segments among a partition's keys, until `onStep` returns false. A segment written before `complete`
   * holds only older lines, because a line is received before it is written, by the same clock.
   */
  async function take(
    partition: string,
    keys: readonly string[],
    onStep: (lastKey: string) => boolean,
  ): Promise<{ readonly whole: boolean }> {
    const known = knownOf(partition);
    const fresh = keys.filter((key) => !known.names.has(segmentName(key)));
    // Added together: every addition walks the rows of its hour, and segments of busy replicas are small.
    let step: LedgerRow[] = [];
    let [bytes, segments, read] = [0, 0, 0];
    const endStep = () => {
      window.add(step);
      step = [];
      [bytes, segments] = [0, 0];
    };
    try {
      for await (const { key, rows } of loader.read(fresh)) {
        const oldest = rows.reduce((time, row) => Math.min(time, row.time), Number.POSITIVE_INFINITY);
        known.names.set(ownCopy(segmentName(key)), oldest);
        known.newest = Math.max(known.newest, writtenAt(segmentName(key)) ?? 0);
        for (const row of rows) {
          step.push(row);
          bytes += row.heldBytes;
        }
        segments += 1;
        read += 1;
        if (segments < STEP && bytes < STEP_BYTES && read < fresh.length) continue;
        endStep();
        if (!onStep(key)) break;
      }
    } finally {
      // Segments that were read before the store failed are not read again.
      endStep();
    }
    return { whole: read === fresh.length };
  }

  function nameBytes(): number {
    let names = 0;
    for (const known of partitions.values()) names += known.names.size;
    return names * NAME_BYTES;
  }

  function isFull(): boolean {
    return window.size >= limit.rows || window.bytes + nameBytes() >= limit.bytes;
  }

  function trim(): void {
    // What was written before the window needs no name: see `isNew`.
    if (nameBytes() > limit.bytes / 4) forgetNames(Math.max(0, Math.min(complete, clock() - SKEW)));
    const dropped = window.dropOver({
      ...limit,
      bytes: limit.bytes - Math.min(nameBytes(), limit.bytes / 2),
    });
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
      const { keys, all } = await collectNewest(listPartition(store, partition), maxKeys);
      if (compacted.has(startOf(partition)) && (await removed.isIncomplete(startOf(partition), keys))) {
        reached = endOf(partition);
        break;
      }
      const { whole } = await take(partition, keys.reverse(), (lastKey) => {
        const written = Math.max(
          writtenAt(segmentName(lastKey)) ?? Number.POSITIVE_INFINITY,
          startOf(partition),
        );
        complete = Math.min(complete, written);
        onProgress();
        return !isFull();
      });
      if (whole && all) complete = Math.min(complete, startOf(partition));
      onProgress();
      if (isFull()) break;
      if (!all) {
        reached = complete;
        break;
      }
    }
    if (!isFull()) complete = Math.min(complete, reached);
    seen = complete;
    namesSince = Math.max(0, complete);
    trim();
  }

  /** Reads the new ones of the segments written since an instant. Returns how many were listed. */
  async function readNew(partition: string, writtenSince: number): Promise<number> {
    const startAfter = writtenSince > 0 ? `${partition}${encodeTime(writtenSince)}` : undefined;
    const keys = await collect(listPartition(store, partition, startAfter ? { startAfter } : undefined));
    await take(partition, keys.filter(isNew), () => {
      trim();
      return true;
    });
    return keys.length;
  }

  async function poll(): Promise<void> {
    const now = clock();
    const instants = [now - USUAL_DELAY, now, now + MINUTE];
    for (const partition of new Set(instants.map(partitionOf))) {
      const known = knownOf(partition);
      if (known.wideKeys > PAGE && now - known.wideAt < MINUTE) {
        await readNew(partition, known.newest - NEAR);
      } else {
        known.wideKeys = await readNew(partition, known.newest - SKEW);
        known.wideAt = now;
      }
    }
    trim();
    onProgress();
  }

  async function sweep(): Promise<void> {
    const started = clock();
    const range = { since: new Date(sweptSince()).toISOString() };
    for (const partition of await collect(listPartitions(store, range))) {
      await readNew(partition, namesSince);
    }
    trim();
    // Late segments of hours before the window are read too, so that no line is missing from the figures.
    forgetNames(Math.max(0, Math.min(complete, started - SKEW)));
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

/** The last of the keys, at most `limit` and at least half as many. */
async function collectNewest(
  keys: AsyncIterable<string>,
  limit: number,
): Promise<{ readonly keys: string[]; readonly all: boolean }> {
  let [older, newer]: [string[], string[]] = [[], []];
  let all = true;
  for await (const key of keys) {
    if (newer.length >= limit / 2) {
      all &&= older.length === 0;
      [older, newer] = [newer, []];
    }
    newer.push(key);
  }
  return { keys: [...older, ...newer], all };
}

async function collect(keys: AsyncIterable<string>): Promise<string[]> {
  const all: string[] = [];
  for await (const key of keys) all.push(key);
  return all;
}
