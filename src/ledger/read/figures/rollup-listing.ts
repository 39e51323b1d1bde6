import type { ObjectStore } from '../../../store/object-store.js';
import { HOUR, startOfHour } from '../../hours.js';
import { ledgerFolders } from '../../ledger-folders.js';
import { DAILY_ROLLUPS_FOLDER, dailyRollupKey, ROLLUPS_FOLDER } from '../../ledger-keys.js';
import { readAhead } from '../../read-ahead.js';
import { DAY, floorTo, type TimeRange } from '../time-ranges.js';

/** The rollups of a day or of an hour. */
export interface RollupPart extends TimeRange {
  readonly keys: readonly string[];
}

/** What there is of a range. */
interface ListedRollups {
  readonly parts: readonly RollupPart[];
  /** Hours that have segments or files and no rollup. */
  readonly bare: readonly TimeRange[];
}

/** Which rollups there are. Listings are shared for a while: every open dashboard asks every few seconds. */
export interface RollupListing {
  /**
   * The rollups of the days that overlap a range. Rejects with `StoreError`.
   *
   * @param byDay whether the rollup of a whole day stands for those of its hours
   */
  list(range: TimeRange, byDay: boolean): Promise<ListedRollups>;
}

const CONCURRENCY = 16;
const RECENT = 2 * DAY;
/** Of older days without any rollup every hour counts as one with segments. */
const PRECISE = 10 * DAY;
/** Milliseconds a listing is kept. */
const KEPT = { recent: 30_000, old: 600_000 };

export function createRollupListing(store: ObjectStore, clock: () => number): RollupListing {
  const cache = new Map<string, { readonly until: number; readonly value: Promise<unknown> }>();

  function shared<T>(name: string, keep: number, load: () => Promise<T>): Promise<T> {
    const now = clock();
    const known = cache.get(name);
    if (known !== undefined && known.until > now) return known.value as Promise<T>;
    for (const [other, { until }] of cache) if (until <= now) cache.delete(other);
    const value = load();
    cache.set(name, { until: now + keep, value });
    value.catch(() => cache.delete(name));
    return value;
  }

  const foldersOf = (path: string, keep: number) =>
    shared(`folders ${path}`, keep, () => ledgerFolders(store, path));

  /** From one day on to the newest: the rollups of a year take one page. */
  const dailyKeys = (since: number) =>
    shared(`daily ${since}`, KEPT.recent, async () => {
      const startAfter = DAILY_ROLLUPS_FOLDER + dayFolder(since);
      return new Set(await keysBelow(store, DAILY_ROLLUPS_FOLDER, startAfter));
    });

  const hourlyKeys = (start: number, keep: number) =>
    shared(`hourly ${start}`, keep, async () => {
      const hours = new Map<number, string[]>();
      for (const key of await keysBelow(store, ROLLUPS_FOLDER + dayFolder(start))) {
        const hour = startOfHour(key);
        if (!Number.isNaN(hour)) hours.set(hour, [...(hours.get(hour) ?? []), key]);
      }
      return hours;
    });

  async function listDay(start: number): Promise<ListedRollups> {
    const keep = clock() - start < RECENT ? KEPT.recent : KEPT.old;
    const hours = await hourlyKeys(start, keep);
    // A year without rollups would be 365 listings of folders.
    if (hours.size === 0 && clock() - start > PRECISE) return { parts: [], bare: [rangeOf(start, DAY)] };
    const held = (await foldersOf(dayFolder(start), keep)).map(startOfHour);
    return {
      parts: [...hours].map(([hour, keys]) => ({ ...rangeOf(hour, HOUR), keys })),
      bare: held.filter((hour) => !Number.isNaN(hour) && !hours.has(hour)).map((hour) => rangeOf(hour, HOUR)),
    };
  }

  return {
    async list({ since, until }, byDay) {
      const first = floorTo(DAY, since);
      const [daily, existing] = await Promise.all([
        byDay ? dailyKeys(first) : new Set<string>(),
        foldersOf('', KEPT.recent),
      ]);
      const parts: RollupPart[] = [];
      const others: number[] = [];
      for (let start = first; start < until; start += DAY) {
        const key = dailyRollupKey(dayAt(start));
        if (daily.has(key)) parts.push({ ...rangeOf(start, DAY), keys: [key] });
        else if (existing.includes(dayFolder(start))) others.push(start);
      }
      const bare: TimeRange[] = [];
      for await (const day of readAhead(others, CONCURRENCY, listDay)) {
        parts.push(...day.parts.filter((part) => part.until > since && part.since < until));
        bare.push(...day.bare);
      }
      return { parts, bare };
    },
  };
}

function rangeOf(since: number, length: number): TimeRange {
  return { since, until: since + length };
}

/** `2026-03-04` */
function dayAt(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** `dt=2026-03-04/` */
function dayFolder(time: number): string {
  return `dt=${dayAt(time)}/`;
}

async function keysBelow(store: ObjectStore, prefix: string, startAfter?: string): Promise<string[]> {
  const keys: string[] = [];
  const listing = store.list(prefix, startAfter === undefined ? undefined : { startAfter });
  for await (const { key } of listing) if (key.endsWith('.json')) keys.push(key);
  return keys;
}
