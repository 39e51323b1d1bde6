import { listRollups } from '../ledger/compact/list-rollups.js';
import {
  DAILY_ROLLUPS_FOLDER,
  LEDGER_FOLDER,
  LEDGER_PARQUET_FOLDER,
  ROLLUPS_FOLDER,
} from '../ledger/ledger-keys.js';
import { startOfPartition } from '../ledger/ledger-reader.js';
import { readAhead } from '../ledger/read-ahead.js';
import type { ObjectStore } from '../store/object-store.js';
import { DAY, HOUR } from './time-ranges.js';

/** The rollups of a day, by hour or as a whole, and its hours that have deliveries and no rollup. */
export interface RollupsOfDay {
  /** Milliseconds since the epoch. */
  readonly start: number;
  /** Keys of the rollups of the whole day. When there are any, `hours` and `bare` are empty. */
  readonly daily: readonly string[];
  /** Keys of the rollups of an hour, by its start; a rollup that was lost is among them. */
  readonly hours: ReadonlyMap<number, readonly string[]>;
  /** Starts of the hours that have segments and no rollup. */
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
/** Milliseconds a listing is kept. Late rollups of old days are rare. */
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

  const foldersOf = (prefix: string) =>
    shared(`folders ${prefix}`, KEPT.recent, async () => new Set(await collect(store.folders(prefix))));

  /** From one day on to the newest: the rollups of a year take one page. */
  const dailyKeys = (since: number) =>
    shared(`daily ${since}`, KEPT.recent, async () => {
      const startAfter = DAILY_ROLLUPS_FOLDER + dayFolder(since);
      const keys = await collect(keysOf(store.list(DAILY_ROLLUPS_FOLDER, { startAfter })));
      return groupBy(keys, (key) => key.slice(DAILY_ROLLUPS_FOLDER.length, key.lastIndexOf('/') + 1));
    });

  const hourlyKeys = (day: number) =>
    shared(`hourly ${day}`, keptFor(day), async () => {
      const { rollups, lost } = await listRollups(store, dayFolder(day));
      const keys = [...rollups.map(({ key }) => key), ...lost];
      const hours = groupBy(keys, (key) => startOfPartition(key.slice(0, key.lastIndexOf('/') + 1)));
      hours.delete(Number.NaN);
      return hours;
    });

  const hoursWithSegments = (day: number) =>
    shared(`segments ${day}`, keptFor(day), async () => {
      const folders = await collect(store.folders(LEDGER_FOLDER + dayFolder(day)));
      return folders.map(startOfPartition).filter((start) => !Number.isNaN(start));
    });

  const keptFor = (day: number) => (clock() - day < RECENT ? KEPT.recent : KEPT.old);

  async function hoursOf(start: number, withRollups: boolean, withSegments: boolean): Promise<RollupsOfDay> {
    // A year without rollups would be 365 listings.
    if (!withRollups && clock() - start > PRECISE) {
      return {
        start,
        daily: [],
        hours: new Map(),
        bare: Array.from({ length: 24 }, (_, n) => start + n * HOUR),
      };
    }
    const [hours, held] = await Promise.all([
      withRollups ? hourlyKeys(start) : new Map<number, string[]>(),
      withSegments ? hoursWithSegments(start) : [],
    ]);
    return { start, daily: [], hours, bare: held.filter((hour) => !hours.has(hour)) };
  }

  return {
    async days(since, until, byDay) {
      const first = Math.floor(since / DAY) * DAY;
      const [daily, rollups, files, ledger] = await Promise.all([
        byDay ? dailyKeys(first) : new Map<string, string[]>(),
        foldersOf(ROLLUPS_FOLDER),
        foldersOf(LEDGER_PARQUET_FOLDER),
        foldersOf(LEDGER_FOLDER),
      ]);
      const hasRollups = (folder: string) =>
        rollups.has(ROLLUPS_FOLDER + folder) || files.has(LEDGER_PARQUET_FOLDER + folder);
      const starts: number[] = [];
      for (let start = first; start < until; start += DAY) {
        const folder = dayFolder(start);
        const exists = hasRollups(folder) || ledger.has(LEDGER_FOLDER + folder);
        if (exists || daily.has(folder)) starts.push(start);
      }
      const days = readAhead(starts, CONCURRENCY, async (start): Promise<RollupsOfDay> => {
        const folder = dayFolder(start);
        const keys = daily.get(folder);
        if (keys !== undefined) return { start, daily: keys, hours: new Map(), bare: [] };
        const found = [hasRollups(folder), ledger.has(LEDGER_FOLDER + folder)] as const;
        return hoursOf(start, ...found);
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
