import type { ObjectStore } from '../../store/object-store.js';
import type { SegmentLoader } from '../segment-loader.js';
import type { IndexMemory } from './index-memory.js';
import { createOpenHour, type OpenHour } from './open-hour.js';
import { createSegmentList } from './segment-list.js';
import type { HourPage, HourSearch } from './take-rows.js';

/** Hours that are read from their segments. The indexes of the last two stay in memory for the next page. */
export interface OpenHours {
  search(hour: OpenHourPlace, search: HourSearch): Promise<HourPage>;
}

export interface OpenHourPlace {
  /** Begin of the hour in milliseconds since the epoch. */
  readonly start: number;
  /** Folder of the hour. */
  readonly partition: string;
  /** Only segments with names after this one. Default: all. */
  readonly after?: string | undefined;
}

/** What is in memory: of the hour in which it begins, only segments are read that hold older lines. */
export interface RecentLines {
  /** All lines received at or after this instant are in memory, in milliseconds since the epoch. */
  completeSince(): number;
  /** When the oldest line of a segment was received; undefined where it is not known. */
  oldestLine(partition: string, segment: string): number | undefined;
}

export interface OpenHoursOptions {
  readonly store: ObjectStore;
  readonly loader: SegmentLoader;
  readonly clock: () => number;
  readonly recent: RecentLines;
  /** Bytes of all indexes together. */
  readonly maxBytes: number;
  /** Lines by which an index grows. */
  readonly chunk?: number | undefined;
}

interface KeptHour {
  readonly place: OpenHourPlace;
  readonly hour: OpenHour;
  bytes: number;
}

const MAX_HOURS = 2;
/** Indexes that nobody asked for longer than this are dropped. */
const IDLE = 10 * 60_000;

export function createOpenHours(options: OpenHoursOptions): OpenHours {
  const { store, loader, clock, recent, maxBytes, chunk } = options;
  /** The one that was used last is the last. */
  let kept: KeptHour[] = [];
  const searches = new Set<Promise<unknown>>();
  let idle: NodeJS.Timeout | undefined;

  const used = () => kept.reduce((sum, { bytes }) => sum + bytes, 0);

  function dropIdle(except?: KeptHour): boolean {
    const dropped = kept.find((one) => one !== except && !one.hour.isInUse);
    kept = kept.filter((one) => one !== dropped);
    return dropped !== undefined;
  }

  function memoryOf(own: () => KeptHour): IndexMemory {
    return {
      reserve(bytes) {
        while (used() + bytes > maxBytes) if (!dropIdle(own())) return false;
        own().bytes += bytes;
        return true;
      },
      available() {
        const others = kept.filter((one) => one !== own() && one.hour.isInUse);
        return maxBytes - own().bytes - others.reduce((sum, { bytes }) => sum + bytes, 0);
      },
    };
  }

  function open(place: OpenHourPlace, { from }: HourSearch): KeptHour {
    const { start, partition, after } = place;
    const before = Math.max(recent.completeSince(), from.time + 1);
    const skips = (name: string) =>
      (recent.oldestLine(partition, name) ?? Number.NEGATIVE_INFINITY) >= before;
    const list = createSegmentList({ store, partition, after, skips, clock });
    const memory = memoryOf(() => one);
    const hour = createOpenHour({ start, partition, list, loader, memory, before, chunk });
    const one: KeptHour = { place, hour, bytes: 0 };
    return one;
  }

  /** The hour's index if it serves the search, else a new one; null while searches in progress need all of them. */
  function hourFor(place: OpenHourPlace, search: HourSearch): OpenHour | null {
    const known = kept.find((one) => isSame(one.place, place) && one.hour.covers(search.from));
    if (!known && kept.length >= MAX_HOURS && !dropIdle()) return null;
    const one = known ?? open(place, search);
    kept = [...kept.filter((other) => other !== one), one];
    return one.hour;
  }

  return {
    async search(place, search) {
      let hour = hourFor(place, search);
      for (; hour === null; hour = hourFor(place, search)) await Promise.race(searches);
      const searching = hour.search(search);
      const ended: Promise<unknown> = searching.catch(() => undefined).finally(() => searches.delete(ended));
      searches.add(ended);
      clearTimeout(idle);
      idle = setTimeout(() => {
        while (dropIdle());
      }, IDLE).unref();
      return searching;
    },
  };
}

function isSame(one: OpenHourPlace, other: OpenHourPlace): boolean {
  return one.partition === other.partition && one.after === other.after;
}
