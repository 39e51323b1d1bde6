import { firstOpenHour, HOUR, LISTED_AGAIN, openHours, startOfHour } from '../../ledger/hours.js';
import { createLogFollower } from '../../ledger/log/follow-log.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import type { MergedHourError } from '../../ledger/log/merge-record.js';
import { segmentsOfHour } from '../../ledger/log/segments-of-hour.js';
import { parseSegmentKey } from '../../ledger/segment-key.js';
import type { ObjectStore } from '../../store/object-store.js';
import { type IndexCalls, IndexError } from '../index-calls.js';
import type { IndexState } from '../index-state.js';
import type { MergedFault } from '../ledger-index.js';
import { createFollowedFolders } from './followed-folders.js';
import { createIndexBounds } from './index-bounds.js';
import { repairedHours } from './repaired-hours.js';
import { createSegmentTaker, type TakenHour } from './segment-taker.js';

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
  let hasWalked = false;
  /** The first open hour when what is older was looked at last. */
  let lookedIn: number | null = null;
  let retriedAt = Number.NEGATIVE_INFINITY;

  function follow() {
    hours = new Map();
    const open = (hour: string): TakenHour => ({ hour, read: new Map() });
    const { current } = folders;
    return createLogFollower({ store, hours, clock: now, open, onLost: addMissing, folders: current });
  }

  /** Progress within an hour, without rows that are being deleted. */
  async function begun(hour: string): Promise<TakenHour> {
    const { numbers, isDeleted } = await index.call('hour', startOfHour(hour));
    if (!isDeleted) return { hour, read: new Map(Object.entries(numbers)) };
    while (await index.call('deleteSome'));
    return { hour, read: new Map() };
  }

  async function onDelete(hour: number): Promise<void> {
    since = Math.max(since ?? hour, hour);
    await save();
  }

  /** Takes the rest of an hour that nothing appears in any more. The index does not claim to have it before it has. */
  async function finish(hour: string): Promise<void> {
    const place = await begun(hour);
    const faults = new Map<string, MergedFault>();
    const onFault = ({ key, record }: MergedHourError) =>
      void faults.set(key, { key, segments: record === null ? 1 : 0 });
    const reading = { store, onLost: addMissing, onFault, folders: folders.all() };
    const reached = until;
    const start = startOfHour(hour);
    const isClaimed = until !== null && start < firstOpenHour(until) && start >= (since ?? start);
    await take(segmentsOfHour(reading, place), async () => {
      if (isClaimed) await moveTo(start);
    });
    await index.call('finishHour', start, [...faults.values()]);
    hours.delete(hour);
    await moveTo(reached);
  }

  async function moveTo(time: number | null): Promise<void> {
    if (until === time) return;
    until = time;
    await save();
  }

  /** Reads all of an hour again: what was missing or damaged of it once is there. */
  async function readAgain(hour: string): Promise<void> {
    const reached = until;
    const start = startOfHour(hour);
    if (until !== null) await moveTo(Math.min(until, start));
    await index.call('deleteHour', start);
    if (openHours(now()).includes(hour)) {
      log = follow();
      return takeNew();
    }
    await finish(hour);
    await moveTo(reached);
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

  /** Takes older hours that are not finished, newest first. Resolves to whether all are in: there can be no room. */
  async function walkBack(pause: () => Promise<void>): Promise<boolean> {
    const end = now() - options.reach;
    const last = firstOpenHour(now()) - 1;
    const walk = hoursInOrder(store, 'newest', Number.NEGATIVE_INFINITY, last, folders.roots());
    for await (const hour of walk) {
      const start = startOfHour(hour);
      if (start + HOUR <= end) {
        // Nothing was written between that hour and the ones in the index.
        await reachBackTo(Math.floor(end / HOUR) * HOUR);
        return true;
      }
      const { isFinished, numbers } = await index.call('hour', start);
      if (!isFinished) {
        const isBegun = Object.values(numbers).some((number) => number > 0);
        if (!isBegun && !(await bounds.hasRoom())) return false;
        await finish(hour);
      }
      await reachBackTo(start);
      await pause();
    }
    since = null;
    await save();
    return true;
  }

  async function reachBackTo(time: number): Promise<void> {
    if (since !== null) since = Math.min(since ?? time, time);
    await save();
  }

  /** What was missing or damaged may have been brought back: an operator waits for that to be seen. */
  async function retryMissing(pause: () => Promise<void>): Promise<void> {
    const { missing } = await index.call('state');
    if (Math.abs(now() - retriedAt) < retryInterval(missing)) return;
    retriedAt = now();
    for await (const hour of repairedHours(store, index, missing)) {
      await readAgain(hour);
      await pause();
    }
  }

  async function save(): Promise<void> {
    await index.call('saveRange', { since: since ?? null, until });
  }

  /** Once an hour: where there was no room, there can be an hour later. */
  async function lookBack(pause: () => Promise<void>): Promise<void> {
    const time = now();
    if (lookedIn === firstOpenHour(time)) return;
    const { relistedAt } = await index.call('state');
    // A segment may have appeared in an hour after it was whole: a fault, but its lines count.
    if (relistedAt === null || time - relistedAt >= DAY) {
      await index.call('reopenHours', time - LISTED_AGAIN, time);
      hasWalked = false;
    }
    if (!hasWalked) hasWalked = await walkBack(pause);
    await index.call('deleteFailuresBefore', time - options.retention);
    lookedIn = firstOpenHour(time);
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
        await takeNew();
        await onNew();
        await lookBack(pause);
        await retryMissing(pause);
        await bounds.trim(pause);
      } catch (error) {
        // The index says how far it came.
        log = follow();
        if (error instanceof IndexError && error.failure === 'lost')
          [since, until, hasWalked, lookedIn] = [undefined, null, false, null];
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
