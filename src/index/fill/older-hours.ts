import { firstOpenHour, HOUR, hourAt, LISTED_AGAIN, startOfHour } from '../../ledger/hours.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import { assertListed, type NamedHour } from '../../ledger/log/named-hours.js';
import { createRetryPace } from '../../ledger/log/retry-pace.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexCalls } from '../index-calls.js';
import type { TakenHours } from './taken-hours.js';

const DAY = 24 * HOUR;
const MINUTE = 60_000;
/** Shares of `maxBytes`: old hours are read up to the one and deleted above the other. */
const READ_BELOW = 0.8;
const DELETE_ABOVE = 0.9;
/** The share of the disk that stays free. */
const KEPT_FREE = 0.1;

interface OlderHoursOptions {
  readonly store: ObjectStore;
  readonly index: IndexCalls;
  /** Milliseconds since the epoch, of the store's clock. */
  readonly now: () => number;
  /** Milliseconds that the index reaches back. */
  readonly reach: number;
  /** Milliseconds that the service keeps results. */
  readonly retention: number;
  /** Bytes of the database and its write-ahead log that should not be exceeded. */
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
  readonly #maxBytes: number;
  /** The first open hour when what is older was looked at last. */
  #lookedIn: number | null = null;
  #isRetryDue: ReturnType<typeof createRetryPace> | null = null;

  constructor(taken: TakenHours, options: OlderHoursOptions) {
    this.#taken = taken;
    this.#store = options.store;
    this.#index = options.index;
    this.#now = options.now;
    this.#reach = options.reach;
    this.#retention = options.retention;
    this.#maxBytes = options.maxBytes;
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
    yield* this.#trim();
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
    const { since } = this.#taken;
    if (since === null || since - HOUR < end) return;
    const oldest = await this.#index.call('oldestHour');
    // A process that ended meanwhile may have begun them, or begun to delete them.
    if (oldest !== null && oldest < since) yield* this.#taken.deleteBefore(since);
    let named: NamedHour[] = [];
    // The first whole hour that the index has is looked at again: its records name the one before it.
    const newest = Math.min(since, firstOpenHour(this.#now()) - 1);
    for await (const hour of this.#hours('newest', Number.NEGATIVE_INFINITY, newest)) {
      const start = startOfHour(hour);
      await assertListed(this.#store, named, start + HOUR);
      // Nothing was written between that hour and the ones in the index.
      if (start + HOUR <= end) return this.#taken.claimFrom(Math.floor(end / HOUR) * HOUR);
      if (!(await this.#hasRoom())) return;
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

  /**
   * What was missing or damaged may have been restored. Its hours are read again, at first after a minute for each, also by processes that
   * end before.
   */
  async *#retryMissing(): AsyncGenerator<void> {
    const { missing: first, retriedAt } = await this.#index.call('state');
    const missing = first.length === 0 ? [] : await this.#index.call('allMissing');
    const keys = missing.map(({ key }) => key);
    const hours = Map.groupBy(keys, (key) => hourAt(startOfHour(key)));
    this.#isRetryDue ??= createRetryPace(retriedAt);
    const now = this.#now();
    const isDue = this.#isRetryDue(keys, now, hours.size * MINUTE);
    if (isDue || (retriedAt === null && keys.length > 0))
      await this.#index.call('saveRange', { retriedAt: now });
    if (!isDue) return;
    for (const [hour, own] of hours) {
      await this.#taken.readAgain(hour, own);
      yield;
    }
  }

  async #hasRoom(): Promise<boolean> {
    const limit = this.#maxBytes * READ_BELOW;
    return (
      (await this.#index.call('usedBytes', limit)) < limit &&
      (await this.#index.call('freeShare')) > KEPT_FREE
    );
  }

  /** What exceeds the bounds of the index goes at the old end. */
  async *#trim(): AsyncGenerator<void> {
    const deleteBefore = (time: number) => this.#taken.deleteBefore(Math.floor(time / HOUR) * HOUR);
    const end = this.#now() - this.#reach;
    const oldest = await this.#index.call('oldestHour');
    // A day at a time: it takes a pass over all contexts.
    if (oldest !== null && oldest < end - DAY) yield* deleteBefore(end);
    const limit = this.#maxBytes * DELETE_ABOVE;
    while ((await this.#index.call('usedBytes', limit)) > limit) {
      const first = await this.#index.call('oldestHour');
      if (first === null || first >= firstOpenHour(this.#now())) break;
      yield* deleteBefore(first + Math.max(HOUR, (this.#now() - first) / 10));
    }
  }
}
