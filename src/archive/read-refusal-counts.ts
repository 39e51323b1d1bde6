import type { SenderRefusals } from '../domain/summary-figures.js';
import type { ObjectStore } from '../store/object-store.js';
import { readDocument } from '../store/read-document.js';
import type { RefusalCount } from './count-refusals.js';
import { REFUSAL_COUNTS_FOLDER } from './layout.js';

/** Counts of one day in UTC, of all replicas. */
interface DailyRefusals extends Omit<RefusalCount, 'fromSender'> {
  /** `YYYY-MM-DD`. */
  readonly day: string;
}

export interface RefusalCounts {
  /** Newest day first, then by number. */
  readonly counts: readonly DailyRefusals[];
  /** Whether all objects of these days were read. */
  readonly complete: boolean;
}

export interface RefusalCountsReader {
  /** Everything since the beginning of yesterday in UTC. Rejects with `StoreError`. */
  daily(): Promise<RefusalCounts>;
  /** Minutes that began within the last hour. Rejects with `StoreError`, and where objects of that time cannot be read. */
  lastHour(): Promise<readonly SenderRefusals[]>;
  /**
   * Minutes that began within a time, in milliseconds since the epoch. Rejects with `StoreError`, where objects of that time cannot be read, and
   * where there are more than it reads.
   */
  between(time: { readonly since: number; readonly until: number }): Promise<readonly SenderRefusals[]>;
}

/** Objects of each run and hour; a process that restarts in a loop leaves many. The newest ones count. */
const MAX_OBJECTS = 1000;
const MAX_BYTES = 1024 * 1024;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Milliseconds for which a result holds: all readers share it. */
const HOLDS_FOR = { daily: 30_000, lastHour: 5000 };

/** Reads what all replicas counted. */
export function createRefusalCountsReader(
  store: Pick<ObjectStore, 'list' | 'read'>,
  clock: () => number,
): RefusalCountsReader {
  return {
    daily: shared(HOLDS_FOR.daily, clock, (now) => readDays(store, now)),
    lastHour: shared(HOLDS_FOR.lastHour, clock, (now) => readLastHour(store, now)),
    between: createCountsBetween(store, clock),
  };
}

/** Objects that an answer is made of: a month of five replicas. Those of hours that are over do not change, and are read once. */
const MOST_READ = 5000;
const AT_ONCE = 16;
/** Milliseconds after the end of an hour in which its counts may still be written. */
const SETTLES_WITHIN = HOUR;

function createCountsBetween(store: Pick<ObjectStore, 'list' | 'read'>, clock: () => number) {
  const settled = new Map<string, HourlyCounts>();

  async function read(key: string, now: number): Promise<HourlyCounts> {
    const known = settled.get(key);
    if (known !== undefined) return known;
    const found = await readHour(store, key);
    if (Date.parse(`${found.hour}:00Z`) < now - HOUR - SETTLES_WITHIN) {
      if (settled.size >= MOST_READ) settled.clear();
      settled.set(key, found);
    }
    return found;
  }

  return async ({ since, until }: { readonly since: number; readonly until: number }) => {
    const keys: string[] = [];
    const startAfter = `${REFUSAL_COUNTS_FOLDER}${new Date(since).toISOString().slice(0, 13)}/`;
    for await (const { key } of store.list(REFUSAL_COUNTS_FOLDER, { startAfter })) {
      if (Date.parse(`${hourOf(key)}:00Z`) >= until) break;
      keys.push(key);
      if (keys.length > MOST_READ) throw new Error('there are too many counts of refusals in this time');
    }
    const hours: HourlyCounts[] = [];
    for (let at = 0; at < keys.length; at += AT_ONCE)
      hours.push(...(await Promise.all(keys.slice(at, at + AT_ONCE).map((key) => read(key, clock())))));
    return senderRefusals(hours, (start) => start >= since && start < until);
  };
}

function hourOf(key: string): string {
  return key.slice(REFUSAL_COUNTS_FOLDER.length).slice(0, 13);
}

/** Read again after a failure. */
function shared<T>(holdsFor: number, clock: () => number, read: (now: number) => Promise<T>) {
  let last: { readonly at: number; readonly result: Promise<T> } | null = null;
  return (): Promise<T> => {
    const now = clock();
    if (last === null || now - last.at >= holdsFor || now < last.at) last = { at: now, result: read(now) };
    const { result } = last;
    result.catch(() => {
      if (last?.result === result) last = null;
    });
    return result;
  };
}

interface HourlyCounts {
  /** `YYYY-MM-DDTHH`. */
  readonly hour: string;
  /** Null for an object that is none of ours. */
  readonly counts: readonly RefusalCount[] | null;
}

async function readHour(store: Pick<ObjectStore, 'read'>, key: string): Promise<HourlyCounts> {
  return { hour: hourOf(key), counts: countsOf(await readDocument(store, key, MAX_BYTES)) };
}

/** @param since beginning of the first hour or day: `2026-03-04T05` */
async function readSince(store: Pick<ObjectStore, 'list' | 'read'>, since: string): Promise<HourlyCounts[]> {
  const keys: string[] = [];
  const options = { startAfter: `${REFUSAL_COUNTS_FOLDER}${since}/` };
  for await (const { key } of store.list(REFUSAL_COUNTS_FOLDER, options)) {
    keys.push(key);
    if (keys.length > MAX_OBJECTS) keys.shift();
  }
  const found: HourlyCounts[] = [];
  for (const key of keys) found.push(await readHour(store, key));
  return found;
}

async function readDays(store: Pick<ObjectStore, 'list' | 'read'>, now: number): Promise<RefusalCounts> {
  const hours = await readSince(store, new Date(now - DAY).toISOString().slice(0, 10));
  const sums = new Map<string, DailyRefusals>();
  for (const { hour, counts } of hours) {
    for (const { fromSender: _, ...count } of counts ?? []) add(sums, { day: hour.slice(0, 10), ...count });
  }
  const counts = [...sums.values()].sort((a, b) =>
    a.day === b.day ? b.count - a.count : a.day < b.day ? 1 : -1,
  );
  const isWhole = hours.every((each) => each.counts !== null);
  return { counts, complete: isWhole && hours.length < MAX_OBJECTS };
}

async function readLastHour(
  store: Pick<ObjectStore, 'list' | 'read'>,
  now: number,
): Promise<readonly SenderRefusals[]> {
  const hours = await readSince(store, new Date(now - HOUR).toISOString().slice(0, 13));
  return senderRefusals(hours, (start) => start >= now - HOUR);
}

/** Throws where the counts of an hour are damaged. */
function senderRefusals(
  hours: readonly HourlyCounts[],
  isWanted: (start: number) => boolean,
): SenderRefusals[] {
  return hours.flatMap(({ hour, counts }) => {
    if (counts === null) throw new Error(`the counts of refusals of ${hour} are damaged`);
    return counts.flatMap(({ source, reason, fromSender }) => {
      const minutes = Object.entries(fromSender)
        .map(([minute, count]) => [Date.parse(`${hour}:${minute}Z`), count] as const)
        .filter(([start]) => isWanted(start))
        .sort(([one], [other]) => one - other);
      return minutes.length === 0 ? [] : [{ source, reason, minutes }];
    });
  });
}

function add(sums: Map<string, DailyRefusals>, more: DailyRefusals): void {
  const name = JSON.stringify([more.day, more.source, more.reason]);
  const sum = sums.get(name);
  if (sum === undefined) return void sums.set(name, more);
  const first = sum.first < more.first ? sum.first : more.first;
  const last = sum.last > more.last ? sum.last : more.last;
  sums.set(name, { ...sum, count: sum.count + more.count, first, last });
}

/** Null for a document that is none of ours. */
function countsOf(document: Record<string, unknown> | null): RefusalCount[] | null {
  const counts = document?.counts;
  return Array.isArray(counts) && counts.every(isCount) ? counts : null;
}

function isCount(value: unknown): value is RefusalCount {
  const { source, reason, count, first, last, fromSender } = (value ?? {}) as Partial<
    Record<keyof RefusalCount, unknown>
  >;
  const areTexts = [source ?? '', reason, first, last].every((text) => typeof text === 'string');
  return areTexts && Number.isSafeInteger(count) && isMinutes(fromSender);
}

function isMinutes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).every(
    ([minute, count]) => /^[0-5]\d$/.test(minute) && Number.isSafeInteger(count),
  );
}
