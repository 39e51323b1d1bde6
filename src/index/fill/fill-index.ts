import { firstOpenHour, HOUR, LISTED_AGAIN, openHours, startOfHour } from '../../ledger/hours.js';
import { createLogFollower } from '../../ledger/log/follow-log.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import type { MergedHourError } from '../../ledger/log/merge-record.js';
import { segmentsOfHour } from '../../ledger/log/segments-of-hour.js';
import { parseSegmentKey } from '../../ledger/segment-key.js';
import type { ObjectStore } from '../../store/object-store.js';
import { type IndexCalls, IndexError } from '../index-calls.js';
import type { IndexState } from '../index-state.js';
import type { IndexedHour, MergedFault } from '../ledger-index.js';
import { createFollowedFolders } from './followed-folders.js';
import { createIndexBounds } from './index-bounds.js';
import { repairedIn, repairedObjects } from './repaired.js';
import { contentOf, createSegmentTaker, type TakenHour } from './segment-taker.js';

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
  /** Names of subscribers; others are found in the store. */
  readonly subscribers?: readonly string[] | undefined;
  /** Whether somebody looks: else what was sent to subscribers is taken once an hour. Default: somebody does. */
  readonly isLookedAt?: (() => boolean) | undefined;
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

const DAY = 24 * HOUR;
const MINUTE = 60_000;

export function createIndexFiller(options: IndexFillerOptions): IndexFiller {
  const { store, index, isLookedAt = () => true } = options;
  const now = () => options.clock() + store.clockOffset();
  const { take, addMissing } = createSegmentTaker(index);
  const bounds = createIndexBounds({ ...options, now, onDelete });
  const folders = createFollowedFolders(store, now, options.subscribers);
  let hours = new Map<string, TakenHour>();
  let log = follow();
  /** What the index has: `since` is undefined before anything, null from the beginning of the ledger on. */
  let since: number | null | undefined;
  let until: number | null = null;
  let relistedAt: number | null = null;
  let isBegun = false;
  let hasWalked = false;
  /** The first open hour when older hours were taken last, and when failures that are too old were deleted. */
  let walkedIn: number | null = null;
  let sweptIn: number | null = null;
  let retriedAt = Number.NEGATIVE_INFINITY;

  function follow() {
    hours = new Map();
    const open = (hour: string): TakenHour => ({ hour, read: new Map() });
    const { current } = folders;
    return createLogFollower({ store, hours, clock: now, open, onLost: addMissing, folders: current });
  }

  async function begin(): Promise<void> {
    if (!isBegun) ({ relistedAt } = await index.call('state'));
    isBegun = true;
  }

  async function known(hour: string): Promise<TakenHour & Pick<IndexedHour, 'isFinished' | 'isDeleted'>> {
    const { numbers, ...state } = await index.call('hour', startOfHour(hour));
    return { hour, read: new Map(Object.entries(numbers)), ...state };
  }

  /** Progress within an hour, without rows that are being deleted. */
  async function begun(hour: string): Promise<TakenHour> {
    const place = await known(hour);
    if (!place.isDeleted) return place;
    while (await index.call('deleteSome'));
    return { hour, read: new Map() };
  }

  async function onDelete(hour: number): Promise<void> {
    since = Math.max(since ?? hour, hour);
    await save();
  }

  /** Takes the rest of an hour that nothing appears in any more. */
  async function finish(hour: string, onFirst?: () => Promise<void>): Promise<void> {
    const place = await begun(hour);
    const faults = new Map<string, MergedFault>();
    const onFault = ({ key, record }: MergedHourError) =>
      void faults.set(key, { key, segments: record === null ? 1 : 0 });
    const reading = { store, onLost: addMissing, onFault, folders: folders.all() };
    await take(segmentsOfHour(reading, place), onFirst);
    await index.call('finishHour', startOfHour(hour), [...faults.values()]);
    hours.delete(hour);
  }

  /** Takes what was not read of a finished hour: the index does not claim to have it before it has. */
  async function finishAgain(hour: string): Promise<void> {
    const reached = until;
    await finish(hour, () => moveBack(hour));
    if (until === reached) return;
    until = reached;
    await save();
  }

  async function moveBack(hour: string): Promise<void> {
    const start = startOfHour(hour);
    if (until !== null) until = Math.min(until, start);
    await save();
    await index.call('reopenHour', start);
  }

  /** Reads all of an hour again: what was read of it once was damaged. */
  async function readAgain(hour: string): Promise<void> {
    const reached = until;
    await moveBack(hour);
    await index.call('deleteHour', startOfHour(hour));
    if (openHours(now()).includes(hour)) {
      log = follow();
      return takeNew();
    }
    await finish(hour);
    until = reached;
    await save();
  }

  /** Takes what is new: of the hours that are open, and of those that were when the log was listed last. */
  async function takeNew(): Promise<void> {
    const open = openHours(now());
    const [first = ''] = open;
    const isHourOver = until === null || firstOpenHour(until) < startOfHour(first);
    if (await folders.look(isLookedAt() || isHourOver)) log.relist();
    for (const hour of open) if (!hours.has(hour)) hours.set(hour, await begun(hour));
    await take(log.newSegments());
    if (until !== null && isHourOver) {
      const [since, end] = [firstOpenHour(until), startOfHour(first) - 1];
      for await (const hour of hoursInOrder(store, 'oldest', since, end, folders.roots())) await finish(hour);
    }
    for (const hour of hours.keys()) if (!open.includes(hour)) hours.delete(hour);
    until = log.listedAt() ?? until;
    if (since === undefined) since = startOfHour(first);
    await save();
  }

  /** Takes older hours, newest first. Resolves to whether all are in: there can be no room. */
  async function walkBack(pause: () => Promise<void>): Promise<boolean> {
    const end = now() - options.reach;
    const last = firstOpenHour(now()) - 1;
    const walk = hoursInOrder(store, 'newest', Number.NEGATIVE_INFINITY, last, folders.roots());
    for await (const hour of walk) {
      const start = startOfHour(hour);
      if (start + HOUR <= end) {
        // Nothing was written between that hour and the ones in the index.
        since = Math.min(since ?? start, Math.floor(end / HOUR) * HOUR);
        await save();
        return true;
      }
      if (!(await known(hour)).isFinished) {
        if (!(await bounds.hasRoom())) return false;
        await finish(hour);
      }
      since = Math.min(since ?? start, start);
      await save();
      await pause();
    }
    since = null;
    await save();
    return true;
  }

  /** A segment may have appeared in an hour after it was whole: a fault, but its lines count. */
  async function takeLate(pause: () => Promise<void>): Promise<void> {
    const began = now();
    const end = firstOpenHour(began);
    for await (const hour of hoursInOrder(store, 'oldest', end - LISTED_AGAIN, end - 1, folders.roots())) {
      if ((await known(hour)).isFinished) await finishAgain(hour);
      await pause();
    }
    relistedAt = began;
    await index.call('saveRelisted', began);
  }

  /** What was missing or damaged may have been brought back: an operator waits for that to be seen. */
  async function retryMissing(pause: () => Promise<void>): Promise<void> {
    const { missing } = await index.call('state');
    if (Math.abs(now() - retriedAt) < retryInterval(missing)) return;
    retriedAt = now();
    const damaged = new Set<string>();
    for await (const each of repairedIn(store, index, missing)) {
      if (typeof each === 'string') damaged.add(each);
      else await index.call('apply', [contentOf(each.place, each.segment)]);
      await pause();
    }
    for (const hour of damaged) {
      await readAgain(hour);
      await pause();
    }
    for await (const { key, hour } of repairedObjects(store, missing)) {
      await finishAgain(hour);
      await index.call('deleteFault', key);
      await pause();
    }
  }

  async function save(): Promise<void> {
    await index.call('saveRange', { since: since ?? null, until });
  }

  /** What is done once an hour, and once a day. */
  async function lookBack(pause: () => Promise<void>): Promise<void> {
    await retryMissing(pause);
    if (sweptIn !== firstOpenHour(now())) await index.call('deleteFailuresBefore', now() - options.retention);
    sweptIn = firstOpenHour(now());
    if (relistedAt === null || now() - relistedAt >= DAY) await takeLate(pause);
  }

  return {
    relist: () => log.relist(),
    async fill(isDue = () => false, onNew = async () => undefined) {
      const pause = async () => {
        if (!isDue()) return;
        await takeNew();
        await onNew();
      };
      try {
        await begin();
        await takeNew();
        await onNew();
        // Where there was no room, there can be an hour later.
        if (!hasWalked && walkedIn !== firstOpenHour(now())) {
          hasWalked = await walkBack(pause);
          walkedIn = firstOpenHour(now());
        }
        await lookBack(pause);
        await bounds.trim(pause);
      } catch (error) {
        // The index says how far it came.
        log = follow();
        if (error instanceof IndexError && error.failure === 'lost')
          [since, until, relistedAt, hasWalked, walkedIn] = [undefined, null, null, false, null];
        throw error;
      }
    },
  };
}

/** Milliseconds until missing segments and objects are asked for again: some ten calls a minute, and an object is read whole. */
function retryInterval(missing: IndexState['missing']): number {
  const minutes = missing.map(({ key }) => (parseSegmentKey(key) === null ? 10 : 1));
  return Math.min(
    HOUR,
    minutes.reduce((sum, each) => sum + each * MINUTE, 0),
  );
}
