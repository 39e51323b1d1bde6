import { firstOpenHour, HOUR, hourAt, LISTED_AGAIN, startOfHour } from '../../ledger/hours.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import { readMergedHour } from '../../ledger/log/merge-record.js';
import { assertListed, type NamedHour } from '../../ledger/log/named-hours.js';
import { parseSegmentKey } from '../../ledger/segment-key.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexCalls } from '../index-calls.js';
import type { IndexState } from '../index-state.js';
import { createIndexBounds, type IndexBounds } from './index-bounds.js';
import { repairedHours } from './repaired-hours.js';
import type { TakenHours } from './taken-hours.js';

const DAY = 24 * HOUR;
const MINUTE = 60_000;

interface OlderHoursOptions {
  readonly store: ObjectStore;
  readonly index: IndexCalls;
  /** Milliseconds since the epoch, of the store's clock. */
  readonly now: () => number;
  /** Milliseconds that the index reaches back. */
  readonly reach: number;
  /** Milliseconds that the service keeps results. */
  readonly retention: number;
  readonly maxBytes: number;
}

/** Takes hours that are over, as far as the index is to reach and there is room, and deletes what is too old. */
export class OlderHours {
  readonly #taken: TakenHours;
  readonly #store: ObjectStore;
  readonly #index: IndexCalls;
  readonly #now: () => number;
  readonly #reach: number;
  readonly #retention: number;
  readonly #bounds: IndexBounds;
  /** The first open hour when what is older was looked at last. */
  #lookedIn: number | null = null;
  #retriedAt = Number.NEGATIVE_INFINITY;

  constructor(taken: TakenHours, options: OlderHoursOptions) {
    this.#taken = taken;
    this.#store = options.store;
    this.#index = options.index;
    this.#now = options.now;
    this.#reach = options.reach;
    this.#retention = options.retention;
    this.#bounds = createIndexBounds({ ...options, deleteBefore: (time) => taken.deleteBefore(time) });
  }

  async *take(): AsyncGenerator<void> {
    // Once an hour: where there was no room, there can be an hour later.
    const hour = firstOpenHour(this.#now());
    if (this.#lookedIn !== hour) {
      yield* this.#lookForLate();
      yield* this.#walkBack();
      await this.#index.call('deleteFailuresBefore', this.#now() - this.#retention);
      this.#lookedIn = hour;
    }
    yield* this.#retryMissing();
    yield* this.#bounds.trim();
  }

  /** A segment may have appeared in an hour after it was whole: a fault, but its lines count. */
  async *#lookForLate(): AsyncGenerator<void> {
    const time = this.#now();
    const { relistedAt } = await this.#index.call('state');
    if (relistedAt !== null && Math.abs(time - relistedAt) < DAY) return;
    const begin = relistedAt === null ? time : Math.max(this.#taken.since ?? 0, time - LISTED_AGAIN);
    for await (const hour of this.#hours('oldest', begin, firstOpenHour(time) - 1)) {
      await this.#taken.finish(hour);
      yield;
    }
    await this.#index.call('saveRange', { relistedAt: time });
  }

  /** Takes older hours, newest first, as far as the index is to reach and there is room. */
  async *#walkBack(): AsyncGenerator<void> {
    const end = this.#now() - this.#reach;
    const { since = null } = this.#taken;
    if (since === null || since - HOUR < end) return;
    const oldest = await this.#index.call('oldestHour');
    // A process that ended meanwhile may have begun them, or begun to delete them.
    if (oldest !== null && oldest < since) yield* this.#taken.deleteBefore(since);
    const walk = this.#hours('newest', Number.NEGATIVE_INFINITY, since - 1);
    let named = await this.#namedBy(hourAt(since));
    for await (const hour of walk) {
      const start = startOfHour(hour);
      await assertListed(this.#store, named, start + HOUR);
      // Nothing was written between that hour and the ones in the index.
      if (start + HOUR <= end) return this.#taken.claimFrom(Math.floor(end / HOUR) * HOUR);
      if (!(await this.#bounds.hasRoom())) return;
      named = await this.#taken.finish(hour);
      await this.#taken.claimFrom(start);
      yield;
    }
    await assertListed(this.#store, named, Number.NEGATIVE_INFINITY);
    await this.#taken.claimFrom(null);
  }

  #hours(order: 'oldest' | 'newest', from: number, to: number): AsyncIterable<string> {
    return hoursInOrder(this.#store, order, from, to, this.#taken.roots());
  }

  /** What the records of an hour name that was read before. */
  async #namedBy(hour: string): Promise<NamedHour[]> {
    const found = this.#taken.folders.map(async (folder) => {
      const { records } = await readMergedHour(this.#store, hour, folder);
      return records.flatMap(({ previous }) => (previous === null ? [] : [{ hour: previous, folder }]));
    });
    return (await Promise.all(found)).flat();
  }

  /** What was missing or damaged may have been brought back: an operator waits for that to be seen. */
  async *#retryMissing(): AsyncGenerator<void> {
    const { missing } = await this.#index.call('state');
    if (Math.abs(this.#now() - this.#retriedAt) < retryInterval(missing)) return;
    this.#retriedAt = this.#now();
    for await (const hour of repairedHours(this.#store, this.#index, missing)) {
      await this.#taken.readAgain(hour);
      yield;
    }
  }
}

/** Milliseconds until missing segments and objects are asked for again: some ten calls a minute, and an object is read whole. */
function retryInterval(missing: IndexState['missing']): number {
  const minutes = missing.map(({ key }) => (parseSegmentKey(key) === null ? 10 : 1));
  return Math.min(
    HOUR,
    minutes.reduce((sum, each) => sum + each * MINUTE, 0),
  );
}
