import type { ObjectStore } from '../../../store/object-store.js';
import { HOUR } from '../../hours.js';
import {
  DAILY_ROLLUPS_FOLDER,
  hourOfKey,
  LEDGER_FOLDER,
  LEDGER_PARQUET_FOLDER,
  ROLLUPS_FOLDER,
} from '../../ledger-keys.js';
import { readAhead } from '../../read-ahead.js';
import { DAY } from '../time-ranges.js';

/** The rollups of a day, by hour or as a whole, and its hours that have deliveries and no rollup. */
export interface RollupsOfDay {
  /** Milliseconds since the epoch. */
  readonly start: number;
  /** Keys of the rollups of the whole day. When there are any, `hours` and `bare` are empty. */
  readonly daily: readonly string[];
  /** Keys of the rollups of an hour, by its start. */
  readonly hours: ReadonlyMap<number, readonly string[]>;
  /** Starts of the hours that have segments or files and no rollup. */
  readonly bare: readonly number[];
}

/** Which rollups there are. Listings are shared for a while: every open dashboard asks every few seconds. */
export interface RollupListing {
  /**
   * The days that overlap a range and have deliveries, oldest first. Rejects with `StoreError`.
   *
   * @param byDay whether the rollup of a whole day stands for those of its hours
   */
  days(since: number, until: number, byDay: boolean): Promise<RollupsOfDay[]>;
}

const CONCURRENCY = 16;
const RECENT = 2 * DAY;
/** Of older days without any rollup every hour counts as one with segments. */
const PRECISE = 10 * DAY;
/** Milliseconds a listing is kept. */
const KEPT = { recent: 30_000, old: 600_000 };
const ROOTS = [LEDGER_FOLDER, LEDGER_PARQUET_FOLDER, ROLLUPS_FOLDER];

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

  /** Names of the folders below a path that segments or files have, without their roots. */
  const foldersOf = (path: string, keep: number) =>
    shared(`folders ${path}`, keep, async () => {
      const names = await Promise.all(
        ROOTS.map(async (root) =>
          (await collect(store.folders(root + path))).map((name) => name.slice(root.length)),
        ),
      );
      return new Set(names.flat());
    });

  /** From one day on to the newest: the rollups of a year take one page. */
  const dailyKeys = (since: number) =>
    shared(`daily ${since}`, KEPT.recent, async () => {
      const startAfter = DAILY_ROLLUPS_FOLDER + dayFolder(since);
      const keys = await collect(keysOf(store.list(DAILY_ROLLUPS_FOLDER, { startAfter })));
      return groupBy(keys, (key) => key.slice(DAILY_ROLLUPS_FOLDER.length, key.lastIndexOf('/') + 1));
    });

  const hourlyKeys = (start: number, keep: number) =>
    shared(`hourly ${start}`, keep, async () => {
      const hours = groupBy(await collect(keysOf(store.list(ROLLUPS_FOLDER + dayFolder(start)))), hourOfKey);
      hours.delete(Number.NaN);
      return hours;
    });

  async function readDay(start: number): Promise<RollupsOfDay> {
    const keep = clock() - start < RECENT ? KEPT.recent : KEPT.old;
    const hours = await hourlyKeys(start, keep);
    // A year without rollups would be 365 listings of folders.
    if (hours.size === 0 && clock() - start > PRECISE) {
      return { start, daily: [], hours, bare: Array.from({ length: 24 }, (_, hour) => start + hour * HOUR) };
    }
    const held = [...(await foldersOf(dayFolder(start), keep))].map(hourOfKey);
    return { start, daily: [], hours, bare: held.filter((hour) => !Number.isNaN(hour) && !hours.has(hour)) };
  }

  return {
    async days(since, until, byDay) {
      const first = Math.floor(since / DAY) * DAY;
      const [daily, existing] = await Promise.all([
        byDay ? dailyKeys(first) : new Map<string, string[]>(),
        foldersOf('', KEPT.recent),
      ]);
      const starts: number[] = [];
      for (let start = first; start < until; start += DAY) {
        if (existing.has(dayFolder(start)) || daily.has(dayFolder(start))) starts.push(start);
      }
      const days = readAhead(starts, CONCURRENCY, async (start): Promise<RollupsOfDay> => {
        const keys = daily.get(dayFolder(start));
        return keys === undefined ? readDay(start) : { start, daily: keys, hours: new Map(), bare: [] };
      });
      return collect(days);
    },
  };
}

/** `dt=2026-03-04/` */
function dayFolder(day: number): string {
  return `dt=${new Date(day).toISOString().slice(0, 10)}/`;
}

async function* keysOf(objects: AsyncIterable<{ readonly key: string }>): AsyncGenerator<string> {
  for await (const { key } of objects) if (key.endsWith('.json')) yield key;
}

function groupBy<Name>(keys: readonly string[], nameOf: (key: string) => Name): Map<Name, string[]> {
  const groups = new Map<Name, string[]>();
  for (const key of keys) {
    const name = nameOf(key);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [key]);
    else group.push(key);
  }
  return groups;
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}
