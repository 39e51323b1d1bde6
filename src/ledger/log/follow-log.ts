import type { ObjectStore } from '../../store/object-store.js';
import { HOUR, hourAt, isWhole, openHours, startOfHour } from '../hours.js';
import { LEDGER_FOLDER } from '../ledger-keys.js';
import { UnreadableError } from '../retrying-reads.js';
import { folderOfWriter } from '../segment-key.js';
import type { LostSegments } from './covered-numbers.js';
import { type HourPosition, hourPosition } from './hour-position.js';
import { AT_ONCE, fetchSegments, type NewSegment } from './new-segments.js';
import { newSegmentsOf } from './segments-of-hour.js';

export interface LogFollowerOptions {
  readonly store: ObjectStore;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Positions in hours, which are followed until they are whole. The follower adds an hour when it opens. */
  readonly hours: Map<string, HourPosition>;
  /** Called with numbers that are lost or were deleted: they, or a later number, were listed. */
  readonly onLost: (lost: LostSegments) => void;
  /** Called with the folder of an hour that cannot be listed although the store answers. Segments of other folders are still returned. */
  readonly onUnlisted: (hour: string, error: UnreadableError) => void;
  /** Folders whose segments are followed at present. Default: the ledger's. */
  readonly folders?: () => readonly string[];
}

/** Milliseconds between listings of an hour whose segments are requested by number, and thus the delay until a new writer is seen. */
const RELIST = 60_000;
/** Segments of an hour that is listed each time: one call returns them all, with the new ones. */
const SMALL_HOUR = 500;

/** Follows the log: returns each segment of the hours that are not whole, once, whenever it appears. */
export function createLogFollower(options: LogFollowerOptions) {
  const { store, clock, hours, folders = () => [LEDGER_FOLDER] } = options;
  /** When each hour was listed last, and its writers that have left it. */
  const listings = new Map<string, { at: number; readonly finished: Set<string> }>();
  let isListingDue = false;

  /** The open hours, and later ones with a position: their lines were written before the clock was set back. */
  function followedHours(): string[] {
    const time = clock();
    const open = [...hours.keys()].filter((hour) => !isWhole(hour, time));
    return [...new Set([...openHours(time), ...open])].sort();
  }

  async function* newSegmentsIn(hour: string): AsyncGenerator<NewSegment> {
    const position = followHour(hours, hour);
    const listing = listings.get(hour) ?? { at: Number.NEGATIVE_INFINITY, finished: new Set() };
    listings.set(hour, listing);
    const time = clock();
    if (Math.abs(time - listing.at) < RELIST && !isSmallHour(position))
      return yield* nextOfEachWriter(position, listing.finished);
    for (const folder of folders())
      try {
        yield* newSegmentsOf(store, position, folder, options.onLost);
      } catch (error) {
        if (!(error instanceof UnreadableError)) throw error;
        options.onUnlisted(hour, error);
      }
    listing.at = time;
  }

  async function* nextOfEachWriter(
    position: HourPosition,
    finished: Set<string>,
  ): AsyncGenerator<NewSegment> {
    // A writer of the previous hour starts again with number 1 in this one.
    const before = hourAt(startOfHour(position.hour) - HOUR);
    const earlier = isWhole(before, clock()) ? undefined : hours.get(before);
    const later = hours.get(hourAt(startOfHour(position.hour) + HOUR));
    const current = folders();
    for (const writer of new Set([...position.read.keys(), ...(earlier?.read.keys() ?? [])])) {
      if (!current.includes(folderOfWriter(writer))) continue;
      // A writer never returns to an hour that it has left. Its next number was requested once since then.
      if (finished.has(writer)) continue;
      const hasLeft = later?.read.has(writer) === true;
      yield* nextOfWriter(store, position, writer);
      if (hasLeft) finished.add(writer);
    }
  }

  return {
    /** New segments. One that its reader does not mark as read is returned again. Throws `StoreError`; the next call continues. */
    async *newSegments(): AsyncGenerator<NewSegment> {
      const open = followedHours();
      for (const hour of listings.keys()) if (!open.includes(hour)) listings.delete(hour);
      if (isListingDue) for (const listing of listings.values()) listing.at = Number.NEGATIVE_INFINITY;
      isListingDue = false;
      for (const hour of open) yield* newSegmentsIn(hour);
    },
    /** Makes the next call list all hours again. */
    relist(): void {
      isListingDue = true;
    },
    /** Everything written before this time was returned, new writers included; null before the first complete listing. */
    listedAt(): number | null {
      const times = followedHours().map((hour) => listings.get(hour)?.at ?? Number.NEGATIVE_INFINITY);
      return times.every(Number.isFinite) ? Math.min(...times) : null;
    },
  };
}

/** The position in an hour, added to `hours` when it is new. */
export function followHour(hours: Map<string, HourPosition>, hour: string): HourPosition {
  const known = hours.get(hour) ?? hourPosition(hour);
  hours.set(hour, known);
  return known;
}

function isSmallHour({ read }: HourPosition): boolean {
  let numbers = 0;
  for (const last of read.values()) numbers += last;
  return numbers <= SMALL_HOUR;
}

/** The segments of a writer after the last one that was read, until one is missing or not marked as read. */
async function* nextOfWriter(
  store: ObjectStore,
  position: HourPosition,
  writer: string,
): AsyncGenerator<NewSegment> {
  for (let atOnce = 1; ; atOnce = Math.min(AT_ONCE, atOnce * 2)) {
    const first = (position.read.get(writer) ?? 0) + 1;
    const numbers = Array.from({ length: atOnce }, (_, index) => ({ writer, number: first + index }));
    for await (const { number, segment } of fetchSegments(store, position, numbers)) {
      if (segment === null) return;
      yield { position, writer, number, segment };
      if (position.read.get(writer) !== number) return;
    }
  }
}
