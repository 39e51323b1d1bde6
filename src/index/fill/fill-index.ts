import { firstOpenHour, HOUR, openHours, startOfHour } from '../../ledger/hours.js';
import { createLogFollower } from '../../ledger/log/follow-log.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import { nullIfDamaged } from '../../ledger/log/merge-record.js';
import { createLogFetcher } from '../../ledger/log/merged-segments.js';
import type { FollowedHour, NewSegment } from '../../ledger/log/new-segments.js';
import { segmentsOfHour } from '../../ledger/log/segments-of-hour.js';
import type { UnparsedSegment } from '../../ledger/read-segment.js';
import { parseSegmentKey, type SegmentPlace } from '../../ledger/segment-key.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { SegmentContent } from '../apply/segment-content.js';
import { type IndexCalls, IndexError } from '../index-calls.js';

export interface IndexFillerOptions {
  readonly store: ObjectStore;
  readonly index: IndexCalls;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds that the index reaches back. */
  readonly reach: number;
  /** Milliseconds that the service keeps results: open failures stay as long. */
  readonly retention: number;
  /** Bytes of the database that should not be exceeded. */
  readonly maxBytes: number;
}

/** Keeps the index like the log. */
export interface IndexFiller {
  /**
   * Takes what is new, and what is older, newest hours first, until all is in. Rejects with `StoreError` and `IndexError`; the next call
   * continues.
   *
   * @param isDue whether what is new should be asked for again before a further part of what is older
   * @param onNew called when what is new is in
   */
  fill(isDue?: () => boolean, onNew?: () => Promise<void>): Promise<void>;
  /** What is new is to be listed by its next read, of new writers as well. */
  relist(): void;
}

/** Segments and bytes that are given to the index at once. */
const BATCH = 256;
const BATCH_BYTES = 4 * 1024 * 1024;
/** Shares of `maxBytes`: old hours are read up to the one and deleted above the other. */
const READ_BELOW = 0.8;
const DELETE_ABOVE = 0.9;
/** The share of the disk that stays free. */
const KEPT_FREE = 0.1;
/** Missing numbers in a row that are asked for again, once an hour. */
const MAX_RETRIED = 100;
const DAY = 24 * HOUR;
/** Hours back to which finished hours are listed again once a day. A segment that appears even later is verify's to name. */
const LISTED_AGAIN = 72;

interface Followed extends FollowedHour {
  readonly read: Map<string, number>;
}

export function createIndexFiller(options: IndexFillerOptions): IndexFiller {
  const { store, index } = options;
  const now = () => options.clock() + store.clockOffset();
  let hours = new Map<string, Followed>();
  let log = follow();
  /** What the index has: `since` is undefined before anything, null from the beginning of the ledger on. */
  let since: number | null | undefined;
  let until: number | null = null;
  let hasWalked = false;
  /** The first open hour when older hours were taken last. */
  let walkedIn: number | null = null;
  /** The first open hour when missing segments were asked for last. */
  let retriedIn: number | null = null;
  /** When finished hours were listed again last, in milliseconds since the epoch. */
  let listedAgainAt = Number.NEGATIVE_INFINITY;

  function follow() {
    hours = new Map();
    const open = (hour: string): Followed => ({ hour, read: new Map() });
    return createLogFollower({ store, hours, clock: now, open, onLost: ignore });
  }

  async function known(hour: string): Promise<Followed> {
    const { numbers } = await index.call('hour', startOfHour(hour));
    return { hour, read: new Map(Object.entries(numbers)) };
  }

  async function take(segments: AsyncIterable<NewSegment<Followed>>): Promise<void> {
    let batch: SegmentContent[] = [];
    let bytes = 0;
    for await (const { place, writer, number, segment } of segments) {
      const content = contentOf({ hour: place.hour, writer, number }, segment);
      batch.push(content);
      bytes += content.content.length;
      place.read.set(writer, number);
      if (batch.length < BATCH && bytes < BATCH_BYTES) continue;
      await index.call('apply', batch);
      batch = [];
      bytes = 0;
    }
    if (batch.length > 0) await index.call('apply', batch);
  }

  /** Takes the rest of an hour that nothing appears in any more. */
  async function finish(hour: string): Promise<void> {
    await take(segmentsOfHour({ store, onLost: ignore, onFault: ignore }, await known(hour)));
    await index.call('finishHour', startOfHour(hour));
    hours.delete(hour);
  }

  /** Takes what is new: of the hours that are open, and of those that were when the log was listed last. */
  async function takeNew(): Promise<void> {
    const open = openHours(now());
    const [first = ''] = open;
    for (const hour of open) if (!hours.has(hour)) hours.set(hour, await known(hour));
    await take(log.newSegments());
    if (until !== null && firstOpenHour(until) < startOfHour(first))
      for await (const hour of hoursInOrder(store, 'oldest', firstOpenHour(until), startOfHour(first) - 1))
        await finish(hour);
    for (const hour of hours.keys()) if (!open.includes(hour)) hours.delete(hour);
    until = log.listedAt() ?? until;
    if (since === undefined) since = startOfHour(first);
    await save();
  }

  /** Takes older hours, newest first. Resolves to whether all are in: there can be no room. */
  async function walkBack(isDue: () => boolean, onNew: () => Promise<void>): Promise<boolean> {
    const end = now() - options.reach;
    for await (const hour of hoursInOrder(
      store,
      'newest',
      Number.NEGATIVE_INFINITY,
      firstOpenHour(now()) - 1,
    )) {
      const start = startOfHour(hour);
      if (start + HOUR <= end) {
        // Between that hour and the ones that are in, nothing was written.
        since = Math.min(since ?? start, Math.floor(end / HOUR) * HOUR);
        await save();
        return true;
      }
      if (!(await index.call('hour', start)).isFinished) {
        if (!(await hasRoom())) return false;
        await finish(hour);
      }
      since = Math.min(since ?? start, start);
      await save();
      if (!isDue()) continue;
      await takeNew();
      await onNew();
    }
    since = null;
    await save();
    return true;
  }

  async function hasRoom(): Promise<boolean> {
    const [used, free] = await Promise.all([index.call('usedBytes'), index.call('freeShare')]);
    return used < options.maxBytes * READ_BELOW && free > KEPT_FREE;
  }

  /** A segment may have appeared in an hour after it was whole: a fault, but its lines count. */
  async function takeLate(): Promise<void> {
    const end = firstOpenHour(now());
    for await (const hour of hoursInOrder(store, 'oldest', end - LISTED_AGAIN * HOUR, end - 1))
      if ((await index.call('hour', startOfHour(hour))).isFinished) await finish(hour);
  }

  /** A segment that was missing may have been brought back. */
  async function retryMissing(): Promise<void> {
    const { missing } = await index.call('state');
    const fetch = createLogFetcher(store);
    for (const { key, segments, unreadable } of missing) {
      const place = parseSegmentKey(key);
      if (unreadable !== null || place === null) continue;
      for (let number = place.number; number < place.number + Math.min(segments, MAX_RETRIED); number += 1) {
        const segment = await fetch({ ...place, number }).catch(nullIfDamaged);
        if (segment !== null) await index.call('apply', [contentOf({ ...place, number }, segment)]);
      }
    }
  }

  /** Deletes what is too old or too much, at the old end. */
  async function trim(): Promise<void> {
    const end = now() - options.reach;
    const oldest = await index.call('oldestHour');
    // A day at a time: it takes a pass over all contexts.
    if (oldest !== null && oldest < end - DAY) await deleteBefore(end);
    while ((await index.call('usedBytes')) > options.maxBytes * DELETE_ABOVE) {
      const first = await index.call('oldestHour');
      if (first === null || first >= firstOpenHour(now())) break;
      await deleteBefore(first + Math.max(HOUR, (now() - first) / 10));
    }
    await index.call('deleteFailuresBefore', now() - options.retention);
  }

  async function deleteBefore(time: number): Promise<void> {
    const hour = Math.floor(time / HOUR) * HOUR;
    since = Math.max(since ?? hour, hour);
    await save();
    await index.call('deleteBefore', hour);
  }

  async function save(): Promise<void> {
    await index.call('saveRange', { since: since ?? null, until });
  }

  return {
    relist: () => log.relist(),
    async fill(isDue = () => false, onNew = async () => undefined) {
      try {
        await takeNew();
        await onNew();
        // Where there was no room, there can be an hour later.
        if (!hasWalked && walkedIn !== firstOpenHour(now())) {
          hasWalked = await walkBack(isDue, onNew);
          walkedIn = firstOpenHour(now());
        }
        if (retriedIn !== firstOpenHour(now())) await retryMissing();
        retriedIn = firstOpenHour(now());
        if (now() - listedAgainAt >= DAY) {
          await takeLate();
          listedAgainAt = now();
        }
        await trim();
      } catch (error) {
        // The index says how far it came.
        log = follow();
        if (error instanceof IndexError && error.failure === 'lost') {
          [since, until] = [undefined, null];
          [hasWalked, walkedIn] = [false, null];
        }
        throw error;
      }
    },
  };
}

function ignore(): void {}

function contentOf({ hour, writer, number }: SegmentPlace, segment: UnparsedSegment): SegmentContent {
  const { content, writtenAt: written } = segment;
  return { hour: startOfHour(hour), writer, number, written, content: content ?? new Uint8Array() };
}
