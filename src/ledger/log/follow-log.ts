import type { ObjectStore } from '../../store/object-store.js';
import { HOUR, hourAt, isWhole, openHours, startOfHour } from '../hours.js';
import { LEDGER_FOLDER } from '../ledger-keys.js';
import { UnreadableError } from '../retrying-reads.js';
import { folderOfWriter } from '../segment-key.js';
import type { LostSegments } from './covered-numbers.js';
import { type HourPosition, hourPosition } from './hour-position.js';
import { AT_ONCE, fetchAhead, type NewSegment } from './new-segments.js';
import { newSegmentsOf } from './segments-of-hour.js';

export interface LogFollowerOptions {
  readonly store: ObjectStore;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** The hours that are followed until they are whole. The follower adds an hour when it opens. */
  readonly hours: Map<string, HourPosition>;
  /** Called with numbers that are lost, or were deleted: they or a later one were listed. */
  readonly onLost: (lost: LostSegments) => void;
  /** Called with a folder of an hour that cannot be listed although the store answers. What is beside it is brought. */
  readonly onUnlisted: (hour: string, error: UnreadableError) => void;
  /** Folders whose segments are followed at present. Default: the ledger's. */
  readonly folders?: () => readonly string[];
}

/** Milliseconds between listings of an hour that is asked for by number: a new writer is seen that late. */
const RELIST = 60_000;
/** Segments of an hour that one call lists, with those that are new. */
const SMALL = 500;

/** The one way to follow the log: each segment of the hours that are not whole, once, whenever it appears. */
export function createLogFollower(options: LogFollowerOptions) {
  const { store, clock, hours, folders = () => [LEDGER_FOLDER] } = options;
  /** When hours were listed, and their writers that write no more in them. */
  const listings = new Map<string, { at: number; readonly finished: Set<string> }>();
  let isListingDue = false;

  /** The open hours, and later ones that are followed: when the clock was set back, their last lines were written before. */
  function followed(): string[] {
    const time = clock();
    const open = [...hours.keys()].filter((hour) => !isWhole(hour, time));
    return [...new Set([...openHours(time), ...open])].sort();
  }

  async function* newIn(hour: string): AsyncGenerator<NewSegment> {
    const place = followedHour(hours, hour);
    const listing = listings.get(hour) ?? { at: Number.NEGATIVE_INFINITY, finished: new Set() };
    listings.set(hour, listing);
    const time = clock();
    if (Math.abs(time - listing.at) < RELIST && !isSmall(place))
      return yield* nextOfAll(place, listing.finished);
    for (const folder of folders())
      try {
        yield* newSegmentsOf(store, place, folder, options.onLost);
      } catch (error) {
        if (!(error instanceof UnreadableError)) throw error;
        options.onUnlisted(hour, error);
      }
    listing.at = time;
  }

  async function* nextOfAll(place: HourPosition, finished: Set<string>): AsyncGenerator<NewSegment> {
    // A writer of the hour before begins the next one with its first number.
    const earlier = hours.get(hourAt(startOfHour(place.hour) - HOUR));
    const later = hours.get(hourAt(startOfHour(place.hour) + HOUR));
    const current = folders();
    for (const writer of new Set([...place.read.keys(), ...(earlier?.read.keys() ?? [])])) {
      if (!current.includes(folderOfWriter(writer))) continue;
      // It never returns to an hour that it has left, once the next number of that was asked for since.
      if (finished.has(writer)) continue;
      const hasLeft = later?.read.has(writer) === true;
      yield* nextOf(store, place, writer);
      if (hasLeft) finished.add(writer);
    }
  }

  return {
    /** What is new. A segment that is not taken is brought again. Throws `StoreError`; the next call continues. */
    async *newSegments(): AsyncGenerator<NewSegment> {
      const open = followed();
      for (const hour of listings.keys()) if (!open.includes(hour)) listings.delete(hour);
      if (isListingDue) for (const listing of listings.values()) listing.at = Number.NEGATIVE_INFINITY;
      isListingDue = false;
      for (const hour of open) yield* newIn(hour);
    },
    /** The next call lists its hours, whenever that was done last. */
    relist(): void {
      isListingDue = true;
    },
    /** Everything written before it was brought, of new writers as well; null before the first complete listing. */
    listedAt(): number | null {
      const times = followed().map((hour) => listings.get(hour)?.at ?? Number.NEGATIVE_INFINITY);
      return times.every(Number.isFinite) ? Math.min(...times) : null;
    },
  };
}

/** What was read of an hour; it is begun where it is new. */
export function followedHour(hours: Map<string, HourPosition>, hour: string): HourPosition {
  const known = hours.get(hour) ?? hourPosition(hour);
  hours.set(hour, known);
  return known;
}

function isSmall({ read }: HourPosition): boolean {
  let numbers = 0;
  for (const last of read.values()) numbers += last;
  return numbers <= SMALL;
}

/** The segments of a writer behind the last that was taken, until one is not there or not taken. */
async function* nextOf(store: ObjectStore, place: HourPosition, writer: string): AsyncGenerator<NewSegment> {
  for (let atOnce = 1; ; atOnce = Math.min(AT_ONCE, atOnce * 2)) {
    const first = (place.read.get(writer) ?? 0) + 1;
    const numbers = Array.from({ length: atOnce }, (_, index) => ({ writer, number: first + index }));
    for await (const { number, segment } of fetchAhead(store, place, numbers)) {
      if (segment === null) return;
      yield { place, writer, number, segment };
      if (place.read.get(writer) !== number) return;
    }
  }
}
