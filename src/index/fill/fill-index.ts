import {
  firstOpenHour,
  HOUR,
  hourAt,
  isWhole,
  LISTED_AGAIN,
  MAX_CLOCK_OFFSET,
  openHours,
  startOfHour,
} from '../../ledger/hours.js';
import { createLogFollower } from '../../ledger/log/follow-log.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import { type MergedHourError, readMergedHour } from '../../ledger/log/merge-record.js';
import { assertListed, type NamedHour } from '../../ledger/log/named-hours.js';
import type { FollowedHour } from '../../ledger/log/new-segments.js';
import { segmentsOfHour } from '../../ledger/log/segments-of-hour.js';
import { parseSegmentKey } from '../../ledger/segment-key.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexCalls } from '../index-calls.js';
import type { IndexState } from '../index-state.js';
import type { MergedFault } from '../ledger-index.js';
import { createFollowedFolders } from './followed-folders.js';
import { createIndexBounds } from './index-bounds.js';
import type { IndexFiller } from './index-filler.js';
import { repairedHours } from './repaired-hours.js';
import { createSegmentTaker } from './segment-taker.js';

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
  /** Names of subscribers to whom nothing may have been sent yet; others are found in the store. */
  readonly subscribers?: readonly string[] | undefined;
  /** Whether somebody looks: else what was sent to subscribers is taken once an hour. Default: somebody does. */
  readonly isLookedAt?: (() => boolean) | undefined;
}

/**
 * What the index has: every line from `since` to `until`. Rows before are no part of it: they are deleted before the index reaches back
 * further. `since` is undefined before anything, null from the beginning of the ledger on.
 */
interface Range {
  readonly since: number | null | undefined;
  readonly until: number | null;
}

const NOTHING: Range = { since: undefined, until: null };
const DAY = 24 * HOUR;
const MINUTE = 60_000;

export function createIndexFiller(options: IndexFillerOptions): IndexFiller {
  const { store, index, reach, retention, isLookedAt = () => true } = options;
  const now = () => options.clock() + store.clockOffset();
  const { take, addMissing } = createSegmentTaker(index);
  const bounds = createIndexBounds({ ...options, now, deleteBefore });
  const folders = createFollowedFolders(store, now, options.subscribers);
  let hours = new Map<string, FollowedHour>();
  let log = follow();
  let range = NOTHING;
  /** Whether `range` and `hours` are what the index has: not before the first call, nor after one that failed. */
  let isKnown = false;
  /** The first open hour when what is older was looked at last. */
  let lookedIn: number | null = null;
  let retriedAt = Number.NEGATIVE_INFINITY;

  function follow() {
    hours = new Map();
    const { current } = folders;
    return createLogFollower({ store, hours, clock: now, onLost: addMissing, folders: current });
  }

  async function readRange(): Promise<void> {
    if (isKnown) return;
    const { since, until } = await index.call('state');
    const time = now();
    // An index that ends before it is to begin has nothing to keep. When the clock was set back, nobody knows until when it has everything.
    const isKept = until !== null && until >= time - reach && until <= time + MAX_CLOCK_OFFSET;
    range = isKept ? { since, until } : NOTHING;
    log = follow();
    // Hours that were written before the clock was set back.
    const later = hoursInOrder(store, 'oldest', time + MAX_CLOCK_OFFSET, Number.POSITIVE_INFINITY);
    for await (const hour of later) hours.set(hour, await begun(hour));
    isKnown = true;
  }

  async function save(saved: Range): Promise<void> {
    const { since = null, until } = saved;
    range = saved;
    await index.call('saveRange', { since, until });
  }

  async function begun(hour: string): Promise<FollowedHour> {
    return { hour, read: new Map(Object.entries(await index.call('numbersOf', startOfHour(hour)))) };
  }

  /**
   * Takes the rest of an hour that nothing appears in any more. The index does not claim to have it before it has. Resolves to the hours
   * before it, as its records name them.
   */
  async function finish(hour: string): Promise<NamedHour[]> {
    const place = await begun(hour);
    const faults = new Map<string, MergedFault>();
    const onFault = ({ key, record }: MergedHourError) =>
      void faults.set(key, { key, segments: record === null ? 1 : 0 });
    const named: NamedHour[] = [];
    const onPrevious = (previous: string, folder: string) => void named.push({ hour: previous, folder });
    const reading = { store, onLost: addMissing, onFault, onPrevious, folders: folders.all() };
    const reached = range;
    const { since, until } = reached;
    const start = startOfHour(hour);
    const isClaimed = until !== null && start < firstOpenHour(until) && start >= (since ?? start);
    await take(segmentsOfHour(reading, place), async () => {
      if (isClaimed) await save({ since, until: start });
    });
    if (faults.size > 0) await index.call('saveFaults', start, [...faults.values()]);
    hours.delete(hour);
    if (range !== reached) await save(reached);
    return named;
  }

  /** Reads all of an hour again: what was missing or damaged of it once is there. */
  async function readAgain(hour: string): Promise<void> {
    const reached = range;
    const start = startOfHour(hour);
    await save({ ...reached, until: reached.until && Math.min(reached.until, start) });
    await index.call('deleteHour', start);
    if (openHours(now()).includes(hour)) {
      log = follow();
      return takeNew();
    }
    await finish(hour);
    await save(reached);
  }

  /** Takes what is new: of the hours that are open, and of those that were when the log was listed last. */
  async function takeNew(): Promise<void> {
    await readRange();
    const open = openHours(now());
    const [first = ''] = open;
    const { until } = range;
    const isHourOver = until === null || firstOpenHour(until) < startOfHour(first);
    if (await folders.look(isLookedAt() || isHourOver)) log.relist();
    for (const hour of open) if (!hours.has(hour)) hours.set(hour, await begun(hour));
    await take(log.newSegments());
    if (until !== null && isHourOver) {
      const end = startOfHour(first) - 1;
      let next = firstOpenHour(until);
      for await (const hour of hoursInOrder(store, 'oldest', next, end, folders.roots())) {
        await assertListed(store, await finish(hour), next);
        next = startOfHour(hour) + HOUR;
      }
    }
    for (const hour of hours.keys()) if (isWhole(hour, now())) hours.delete(hour);
    const { since = startOfHour(first) } = range;
    await save({ since, until: log.listedAt() ?? range.until });
  }

  async function* deleteBefore(time: number): AsyncGenerator<void> {
    const since = Math.max(range.since ?? time, time);
    await save({ ...range, since });
    await index.call('deleteBefore', since);
    while (await index.call('deleteSome')) yield;
  }

  /** Takes older hours, newest first, as far as the index is to reach and there is room. */
  async function* walkBack(): AsyncGenerator<void> {
    const end = now() - reach;
    const { since = null } = range;
    if (since === null || since - HOUR < end) return;
    const oldest = await index.call('oldestHour');
    // A process that ended meanwhile may have begun them, or begun to delete them.
    if (oldest !== null && oldest < since) yield* deleteBefore(since);
    const walk = hoursInOrder(store, 'newest', Number.NEGATIVE_INFINITY, since - 1, folders.roots());
    let named = await namedBy(hourAt(since));
    for await (const hour of walk) {
      const start = startOfHour(hour);
      await assertListed(store, named, start + HOUR);
      // Nothing was written between that hour and the ones in the index.
      if (start + HOUR <= end) return save({ ...range, since: Math.floor(end / HOUR) * HOUR });
      if (!(await bounds.hasRoom())) return;
      named = await finish(hour);
      await save({ ...range, since: start });
      yield;
    }
    await assertListed(store, named, Number.NEGATIVE_INFINITY);
    await save({ ...range, since: null });
  }

  /** What the records of an hour name that was read before. */
  async function namedBy(hour: string): Promise<NamedHour[]> {
    const found = folders.all().map(async (folder) => {
      const { records } = await readMergedHour(store, hour, folder);
      return records.flatMap(({ previous }) => (previous === null ? [] : [{ hour: previous, folder }]));
    });
    return (await Promise.all(found)).flat();
  }

  /** A segment may have appeared in an hour after it was whole: a fault, but its lines count. */
  async function* lookForLate(): AsyncGenerator<void> {
    const time = now();
    const { relistedAt } = await index.call('state');
    if (relistedAt !== null && Math.abs(time - relistedAt) < DAY) return;
    const begin = relistedAt === null ? time : Math.max(range.since ?? 0, time - LISTED_AGAIN);
    const walk = hoursInOrder(store, 'oldest', begin, firstOpenHour(time) - 1, folders.roots());
    for await (const hour of walk) {
      await finish(hour);
      yield;
    }
    await index.call('saveRange', { relistedAt: time });
  }

  /** What was missing or damaged may have been brought back: an operator waits for that to be seen. */
  async function* retryMissing(): AsyncGenerator<void> {
    const { missing } = await index.call('state');
    if (Math.abs(now() - retriedAt) < retryInterval(missing)) return;
    retriedAt = now();
    for await (const hour of repairedHours(store, index, missing)) {
      await readAgain(hour);
      yield;
    }
  }

  async function* older(): AsyncGenerator<void> {
    // Once an hour: where there was no room, there can be an hour later.
    const hour = firstOpenHour(now());
    if (lookedIn !== hour) {
      yield* lookForLate();
      yield* walkBack();
      await index.call('deleteFailuresBefore', now() - retention);
      lookedIn = hour;
    }
    yield* retryMissing();
    yield* bounds.trim();
  }

  function forget(error: unknown): never {
    isKnown = false;
    throw error;
  }

  return {
    relist: () => log.relist(),
    takeNew: () => takeNew().catch(forget),
    async *older() {
      try {
        yield* older();
      } catch (error) {
        forget(error);
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
