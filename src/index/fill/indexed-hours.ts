import {
  firstOpenHour,
  HOUR,
  isWhole,
  MAX_CLOCK_OFFSET,
  openHours,
  startOfHour,
  storeClock,
} from '../../ledger/hours.js';
import { LEDGER_FOLDER, mergedFolder, sentFolder } from '../../ledger/ledger-keys.js';
import { createLogFollower } from '../../ledger/log/follow-log.js';
import { type HourPosition, hourPosition } from '../../ledger/log/hour-position.js';
import { hoursInOrder, sentFolders } from '../../ledger/log/log-hours.js';
import type { MergedHourError } from '../../ledger/log/merge-record.js';
import { assertPreviousListed, type PreviousHour } from '../../ledger/log/previous-hours.js';
import { segmentsOfHour } from '../../ledger/log/segments-of-hour.js';
import { UnreadableError } from '../../ledger/retrying-reads.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexCalls } from '../index-calls.js';
import type { IndexRange } from '../index-state.js';
import type { IndexFillerOptions } from './index-filler.js';
import { createSegmentLoader, type SegmentLoader } from './segment-loader.js';

const EMPTY_RANGE: IndexRange = { since: null, until: null };

/**
 * The hours of the log that the index has. Adds new lines and single hours. A call may reject; the next one continues.
 */
export class IndexedHours {
  /** Folders of the segments that the index has: those of the ledger, and the sent records of each subscriber. */
  folders: readonly string[] = [];
  readonly #store: ObjectStore;
  readonly #index: IndexCalls;
  readonly #now: () => number;
  readonly #options: Pick<IndexFillerOptions, 'reach' | 'subscribers'>;
  readonly #segments: SegmentLoader;
  /** Positions in the hours that `#log` follows. */
  #hours = new Map<string, HourPosition>();
  #log: ReturnType<typeof createLogFollower>;
  /** The range that the index claims to have. Older rows do not count, and are deleted before the range is extended. */
  #range = EMPTY_RANGE;
  /** Whether range and positions match the index: not before the first call, nor after a failed one. */
  #isKnown = false;

  constructor(options: IndexFillerOptions) {
    this.#options = options;
    this.#store = options.store;
    this.#index = options.index;
    this.#now = storeClock(options.store, options.clock);
    this.#segments = createSegmentLoader(options.index);
    this.#log = this.#follow();
  }

  /** Start of the range; null: the beginning of the ledger, or the index is empty. */
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

  /** Call it after a failed call: range and positions are then read from the index again. */
  invalidate(): void {
    this.#isKnown = false;
  }

  /** Extends or shortens the range: the index has everything from `since` on. */
  claimFrom(since: number | null): Promise<void> {
    return this.#save({ ...this.#range, since });
  }

  /** Adds new lines of the open hours, and of those that were open when the log was listed last. */
  async addNew(): Promise<void> {
    await this.#readRange();
    const open = openHours(this.#now());
    const [first = ''] = open;
    const { until } = this.#range;
    const isHourOver = until === null || firstOpenHour(until) < startOfHour(first);
    if (isHourOver || this.folders.length === 0) await this.#findFolders();
    for (const hour of open) if (!this.#hours.has(hour)) this.#hours.set(hour, await this.#positionIn(hour));
    await this.#segments.load(this.#log.newSegments());
    if (until !== null && isHourOver) await this.#finishBetween(firstOpenHour(until), startOfHour(first));
    for (const hour of this.#hours.keys()) if (isWhole(hour, this.#now())) this.#hours.delete(hour);
    const since = until === null ? startOfHour(first) : this.#range.since;
    await this.#save({ since, until: this.#log.listedAt() ?? this.#range.until });
  }

  /**
   * Adds the rest of a whole hour. Until then the range excludes the hour. Resolves to the previous hours that its records name.
   */
  async finishHour(hour: string): Promise<PreviousHour[]> {
    const start = startOfHour(hour);
    const reached = this.#range;
    const isClaimed = this.#isClaimed(start);
    const { previous } = await this.#addHour(await this.#positionIn(hour), async () => {
      if (isClaimed) await this.#save({ since: reached.since, until: start });
    });
    this.#hours.delete(hour);
    if (this.#range !== reached) await this.#save(reached);
    return previous;
  }

  /**
   * Reads an hour again for what was missing or damaged; lines that the index has are skipped.
   *
   * @param keys everything that is missing of the hour; folders that lack nothing are not read
   */
  async readAgain(hour: string, keys: readonly string[]): Promise<void> {
    const lacking = this.folders.filter((folder) =>
      keys.some((key) => key.startsWith(folder) || key.startsWith(mergedFolder(folder))),
    );
    const { faults } = await this.#addHour(hourPosition(hour), undefined, lacking);
    await this.#index.call('keepFaults', startOfHour(hour), faults);
  }

  /** Deletes the hours before one, in steps. */
  async *deleteBefore(time: number): AsyncGenerator<void> {
    const since = Math.max(this.since ?? time, time);
    await this.claimFrom(since);
    await this.#index.call('deleteBefore', since);
    while (await this.#index.call('deleteSome')) yield;
  }

  /** Adds all segments of an hour after a position. Resolves to its faults, and to the previous hours that its records name. */
  async #addHour(place: HourPosition, onFirst?: () => Promise<void>, folders = this.folders) {
    const previous: PreviousHour[] = [];
    const segments = segmentsOfHour(
      {
        store: this.#store,
        folders,
        onLost: this.#segments.addMissing,
        onFault: ({ key, record }: MergedHourError) =>
          this.#segments.addFault(place.hour, key, record === null ? 1 : 0),
        onPrevious: (hour, folder) => void previous.push({ hour, folder }),
      },
      place,
    );
    return { faults: await this.#segments.load(segments, onFirst), previous };
  }

  async #findFolders(): Promise<void> {
    const { subscribers = [] } = this.#options;
    const found = new Set([LEDGER_FOLDER, ...subscribers.map(sentFolder)]);
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
    // A range that ends before the reach of the index is useless. One that ends in the future, after the clock was set back, is unreliable.
    const isKept = until !== null && until >= time - this.#options.reach && until <= time + MAX_CLOCK_OFFSET;
    this.#range = isKept ? { since, until } : EMPTY_RANGE;
    this.#log = this.#follow();
    // Hours in the future, which were written before the clock was set back.
    const begin = time + MAX_CLOCK_OFFSET;
    const later = hoursInOrder(this.#store, 'oldest', begin, Number.POSITIVE_INFINITY, undefined, () => []);
    for await (const hour of later) this.#hours.set(hour, await this.#positionIn(hour));
    this.#isKnown = true;
  }

  async #save(range: IndexRange): Promise<void> {
    this.#range = range;
    await this.#index.call('saveRange', range);
  }

  async #positionIn(hour: string): Promise<HourPosition> {
    return hourPosition(hour, await this.#index.call('numbersOf', startOfHour(hour)));
  }

  /** Whether the range includes the whole hour. */
  #isClaimed(start: number): boolean {
    const { since, until } = this.#range;
    return until !== null && start < firstOpenHour(until) && start >= (since ?? start);
  }

  /** Adds the rest of the hours that have become whole since the log was listed last. */
  async #finishBetween(begin: number, end: number): Promise<void> {
    let next = begin;
    for await (const hour of hoursInOrder(this.#store, 'oldest', begin, end - 1, this.roots())) {
      await assertPreviousListed(this.#store, await this.finishHour(hour), next);
      next = startOfHour(hour) + HOUR;
    }
  }
}
