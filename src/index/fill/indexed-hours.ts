import {
  firstOpenHour,
  HOUR,
  isWhole,
  MAX_CLOCK_OFFSET,
  openHours,
  startOfHour,
} from '../../ledger/hours.js';
import { LEDGER_FOLDER, mergedFolder, sentFolder } from '../../ledger/ledger-keys.js';
import { createLogFollower } from '../../ledger/log/follow-log.js';
import { type HourPosition, hourPosition } from '../../ledger/log/hour-position.js';
import { hoursInOrder, sentFolders } from '../../ledger/log/log-hours.js';
import type { MergedHourError } from '../../ledger/log/merge-record.js';
import { assertListed, type NamedHour } from '../../ledger/log/named-hours.js';
import { segmentsOfHour } from '../../ledger/log/segments-of-hour.js';
import { UnreadableError } from '../../ledger/retrying-reads.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexCalls } from '../index-calls.js';
import type { IndexRange } from '../index-state.js';
import { createSegmentTaker, type SegmentTaker } from './segment-taker.js';

const NOTHING: IndexRange = { since: null, until: null };

interface TakenHoursOptions {
  readonly store: ObjectStore;
  readonly index: IndexCalls;
  /** Milliseconds since the epoch, of the store's clock. */
  readonly now: () => number;
  /** Milliseconds that the index reaches back. */
  readonly reach: number;
  /** Names of subscribers to whom nothing may have been sent yet; others are found in the store. */
  readonly subscribers?: readonly string[] | undefined;
}

/**
 * The hours of the log that the index has. Brings what is new, and single hours, into it; each call may reject, and the next one continues.
 */
export class TakenHours {
  /** Folders of the segments that the index has: of the ledger, and of what was sent to each subscriber. */
  folders: readonly string[] = [];
  readonly #store: ObjectStore;
  readonly #index: IndexCalls;
  readonly #now: () => number;
  readonly #reach: number;
  readonly #subscribers: readonly string[];
  readonly #segments: SegmentTaker;
  /** The hours that are followed, those that `#log` reads. */
  #hours = new Map<string, HourPosition>();
  #log: ReturnType<typeof createLogFollower>;
  /** What the index has. Rows before are no part of it: they are deleted before the index reaches back further. */
  #range = NOTHING;
  /** Whether range and hours are what the index has: not before the first call, nor after one that failed. */
  #isKnown = false;

  constructor({ store, index, now, reach, subscribers = [] }: TakenHoursOptions) {
    this.#store = store;
    this.#index = index;
    this.#now = now;
    this.#reach = reach;
    this.#subscribers = subscribers;
    this.#segments = createSegmentTaker(index);
    this.#log = this.#follow();
  }

  /** Begin of what the index has; null: that of the ledger, or the index has nothing yet. */
  get since(): number | null {
    return this.#range.since;
  }

  /** All folders of hours. */
  roots(): readonly string[] {
    return this.folders.flatMap((folder) => [folder, mergedFolder(folder)]);
  }

  relist(): void {
    this.#log.relist();
  }

  /** To be called when a call has failed: the index itself knows what it has. */
  forget(): void {
    this.#isKnown = false;
  }

  /** Says that the index has everything from `since` on. */
  claimFrom(since: number | null): Promise<void> {
    return this.#save({ ...this.#range, since });
  }

  /** Takes what is new: of the hours that are open, and of those that were when the log was listed last. */
  async takeNew(): Promise<void> {
    await this.#readRange();
    const open = openHours(this.#now());
    const [first = ''] = open;
    const { until } = this.#range;
    const isHourOver = until === null || firstOpenHour(until) < startOfHour(first);
    if (isHourOver || this.folders.length === 0) await this.#findFolders();
    for (const hour of open) if (!this.#hours.has(hour)) this.#hours.set(hour, await this.#begun(hour));
    await this.#segments.take(this.#log.newSegments());
    if (until !== null && isHourOver) await this.#finishBetween(firstOpenHour(until), startOfHour(first));
    for (const hour of this.#hours.keys()) if (isWhole(hour, this.#now())) this.#hours.delete(hour);
    const since = until === null ? startOfHour(first) : this.#range.since;
    await this.#save({ since, until: this.#log.listedAt() ?? this.#range.until });
  }

  /**
   * Takes the rest of an hour that nothing appears in any more. The index does not claim to have it before it has. Resolves to the hours
   * before it, as its records name them.
   */
  async finish(hour: string): Promise<NamedHour[]> {
    const start = startOfHour(hour);
    const reached = this.#range;
    const isClaimed = this.#isClaimed(start);
    const { named } = await this.#takeHour(await this.#begun(hour), async () => {
      if (isClaimed) await this.#save({ since: reached.since, until: start });
    });
    this.#hours.delete(hour);
    if (this.#range !== reached) await this.#save(reached);
    return named;
  }

  /**
   * Reads an hour again, for what was missing or damaged of it once: what is in is passed over.
   *
   * @param keys all that is missing of it; folders that lack nothing are not read
   */
  async readAgain(hour: string, keys: readonly string[]): Promise<void> {
    const lacking = this.folders.filter((folder) =>
      keys.some((key) => key.startsWith(folder) || key.startsWith(mergedFolder(folder))),
    );
    const { faults } = await this.#takeHour(hourPosition(hour), undefined, lacking);
    await this.#index.call('keepFaults', startOfHour(hour), faults);
  }

  /** Deletes the hours before one, in steps. */
  async *deleteBefore(time: number): AsyncGenerator<void> {
    const since = Math.max(this.since ?? time, time);
    await this.claimFrom(since);
    await this.#index.call('deleteBefore', since);
    while (await this.#index.call('deleteSome')) yield;
  }

  /** Takes all segments of an hour behind a position. Resolves to its faults, and to the hours before it, as its records name them. */
  async #takeHour(place: HourPosition, onFirst?: () => Promise<void>, folders = this.folders) {
    const named: NamedHour[] = [];
    const segments = segmentsOfHour(
      {
        store: this.#store,
        folders,
        onLost: this.#segments.addMissing,
        onFault: ({ key, record }: MergedHourError) =>
          this.#segments.addFault(place.hour, key, record === null ? 1 : 0),
        onPrevious: (previous, folder) => void named.push({ hour: previous, folder }),
      },
      place,
    );
    return { faults: await this.#segments.take(segments, onFirst), named };
  }

  async #findFolders(): Promise<void> {
    const found = new Set([LEDGER_FOLDER, ...this.#subscribers.map(sentFolder)]);
    try {
      for await (const folder of sentFolders(this.#store)) found.add(folder);
    } catch (error) {
      if (!(error instanceof UnreadableError)) throw error;
    }
    this.folders = [...found];
  }

  #follow() {
    this.#hours = new Map();
    return createLogFollower({
      store: this.#store,
      hours: this.#hours,
      clock: this.#now,
      onLost: this.#segments.addMissing,
      onUnlisted: (hour, { key }) => this.#segments.addFault(hour, key),
      folders: () => this.folders,
    });
  }

  async #readRange(): Promise<void> {
    if (this.#isKnown) return;
    const { since, until } = await this.#index.call('state');
    const time = this.#now();
    // An index that ends before it is to begin has nothing to keep. When the clock was set back, nobody knows until when it has everything.
    const isKept = until !== null && until >= time - this.#reach && until <= time + MAX_CLOCK_OFFSET;
    this.#range = isKept ? { since, until } : NOTHING;
    this.#log = this.#follow();
    // Hours that were written before the clock was set back.
    const begin = time + MAX_CLOCK_OFFSET;
    const later = hoursInOrder(this.#store, 'oldest', begin, Number.POSITIVE_INFINITY, undefined, () => []);
    for await (const hour of later) this.#hours.set(hour, await this.#begun(hour));
    this.#isKnown = true;
  }

  async #save(range: IndexRange): Promise<void> {
    this.#range = range;
    await this.#index.call('saveRange', range);
  }

  async #begun(hour: string): Promise<HourPosition> {
    return hourPosition(hour, await this.#index.call('numbersOf', startOfHour(hour)));
  }

  /** Whether the index claims to have an hour as a whole. */
  #isClaimed(start: number): boolean {
    const { since, until } = this.#range;
    return until !== null && start < firstOpenHour(until) && start >= (since ?? start);
  }

  /** Takes the rest of the hours that have ended since the log was listed last. */
  async #finishBetween(begin: number, end: number): Promise<void> {
    let next = begin;
    for await (const hour of hoursInOrder(this.#store, 'oldest', begin, end - 1, this.roots())) {
      await assertListed(this.#store, await this.finish(hour), next);
      next = startOfHour(hour) + HOUR;
    }
  }
}
