import { firstOpenHour, HOUR, hourAt, RELIST_WINDOW, startOfHour, storeClock } from '../../ledger/hours.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import { assertPreviousListed, type PreviousHour } from '../../ledger/log/previous-hours.js';
import { createRetryPace } from '../../ledger/log/retry-pace.js';
import type { IndexCalls } from '../index-calls.js';
import type { IndexFillerOptions } from './index-filler.js';
import type { IndexedHours } from './indexed-hours.js';

const DAY = 24 * HOUR;
const MINUTE = 60_000;
/** Fractions of `maxBytes` up to which old hours are read, and above which they are deleted. */
const READ_BELOW = 0.8;
const DELETE_ABOVE = 0.9;
/** Fraction of the disk that is kept free. */
const KEPT_FREE = 0.1;

/** Adds past hours as far back as the index should reach and has room for, and deletes what is too old. */
export class OlderHours {
  readonly #indexed: IndexedHours;
  readonly #options: IndexFillerOptions;
  readonly #index: IndexCalls;
  readonly #now: () => number;
  /** The first open hour at the time of the last check. */
  #lastChecked: number | null = null;
  #isRetryDue: ReturnType<typeof createRetryPace> | null = null;

  constructor(indexed: IndexedHours, options: IndexFillerOptions) {
    this.#indexed = indexed;
    this.#options = options;
    this.#index = options.index;
    this.#now = storeClock(options.store, options.clock);
  }

  async *fill(): AsyncGenerator<void> {
    // Once an hour, because room may have become free.
    const hour = firstOpenHour(this.#now());
    if (this.#lastChecked !== hour) {
      yield* this.#relistWholeHours();
      yield* this.#walkBack();
      await this.#index.call('deleteFailuresBefore', this.#now() - this.#options.retention);
      this.#lastChecked = hour;
    }
    yield* this.#retryMissing();
    yield* this.#trim();
  }

  /** Once a day, finds segments that appeared in an hour after it was whole. That is a fault, but their lines count. */
  async *#relistWholeHours(): AsyncGenerator<void> {
    const time = this.#now();
    const { relistedAt } = await this.#index.call('state');
    if (relistedAt !== null && Math.abs(time - relistedAt) < DAY) return;
    const begin = relistedAt === null ? time : Math.max(this.#indexed.since ?? 0, time - RELIST_WINDOW);
    for await (const hour of this.#hours('oldest', begin, firstOpenHour(time) - 1)) {
      await this.#indexed.finishHour(hour);
      yield;
    }
    await this.#index.call('saveRange', { relistedAt: time });
  }

  /** Adds older hours, newest first, as far back as the index should reach and has room for. */
  async *#walkBack(): AsyncGenerator<void> {
    const end = this.#now() - this.#options.reach;
    const { since } = this.#indexed;
    if (since === null || since - HOUR < end) return;
    const oldest = await this.#index.call('oldestHour');
    // A process that ended early left hours that it had not finished to add or to delete.
    if (oldest !== null && oldest < since) yield* this.#indexed.deleteBefore(since);
    let previous: PreviousHour[] = [];
    // Starts with the first whole hour that the index has, because its records name the previous one.
    const newest = Math.min(since, firstOpenHour(this.#now()) - 1);
    for await (const hour of this.#hours('newest', Number.NEGATIVE_INFINITY, newest)) {
      const start = startOfHour(hour);
      await assertPreviousListed(this.#options.store, previous, start + HOUR);
      // Nothing was written between that hour and the ones in the index.
      if (start + HOUR <= end) return this.#indexed.claimFrom(Math.floor(end / HOUR) * HOUR);
      if (!(await this.#hasRoom())) return;
      previous = await this.#indexed.finishHour(hour);
      await this.#indexed.claimFrom(start);
      yield;
    }
    await assertPreviousListed(this.#options.store, previous, Number.NEGATIVE_INFINITY);
    await this.#indexed.claimFrom(null);
  }

  #hours(order: 'oldest' | 'newest', from: number, to: number): AsyncIterable<string> {
    return hoursInOrder(this.#options.store, order, from, to, this.#indexed.roots());
  }

  /**
   * Reads hours with missing or damaged segments again, which may have been restored: first after a minute per hour, counted across
   * processes.
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
      await this.#indexed.readAgain(hour, own);
      yield;
    }
  }

  async #hasRoom(): Promise<boolean> {
    const limit = this.#options.maxBytes * READ_BELOW;
    return (
      (await this.#index.call('usedBytes', limit)) < limit &&
      (await this.#index.call('freeShare')) > KEPT_FREE
    );
  }

  /** Deletes the oldest hours beyond the bounds of the index. */
  async *#trim(): AsyncGenerator<void> {
    const deleteBefore = (time: number) => this.#indexed.deleteBefore(Math.floor(time / HOUR) * HOUR);
    const end = this.#now() - this.#options.reach;
    const oldest = await this.#index.call('oldestHour');
    // A day at a time, because a deletion takes a pass over all contexts.
    if (oldest !== null && oldest < end - DAY) yield* deleteBefore(end);
    const limit = this.#options.maxBytes * DELETE_ABOVE;
    while ((await this.#index.call('usedBytes', limit)) > limit) {
      const first = await this.#index.call('oldestHour');
      if (first === null || first >= firstOpenHour(this.#now())) break;
      yield* deleteBefore(first + Math.max(HOUR, (this.#now() - first) / 10));
    }
  }
}
