import pLimit from 'p-limit';
import { z } from 'zod';
import type { SenderRefusals } from '../domain/summary-figures.js';
import { sharedRead } from '../lib/time/shared-read.js';
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

/** Objects per answer: a month of five replicas. A process in a restart loop writes more; then the newest are read. */
const MAX_OBJECTS = 5000;
const MAX_BYTES = 1024 * 1024;
const AT_ONCE = 16;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Milliseconds after the end of an hour in which its counts may still be written. */
const MAX_WRITE_DELAY = HOUR;

/** Milliseconds for which all readers share a result. */
const MAX_AGE = { daily: 30_000, lastDay: 5000 };

interface HourlyCounts {
  /** `YYYY-MM-DDTHH`. */
  readonly hour: string;
  /** Counts of the object; null when it is damaged. */
  readonly counts: readonly RefusalCount[] | null;
}

/** Reads what all replicas counted. */
export function createRefusalCountsReader(store: Pick<ObjectStore, 'keys' | 'read'>, clock: () => number) {
  /** Objects of past hours do not change, and are read once. */
  const settled = new Map<string, HourlyCounts>();

  async function readHour(key: string): Promise<HourlyCounts> {
    const known = settled.get(key);
    if (known !== undefined) return known;
    const hour = hourOf(key);
    const found = COUNTS.safeParse(await readDocument(store, key, MAX_BYTES));
    const counts = { hour, counts: found.success ? found.data.counts : null };
    if (startOf(hour) < clock() - HOUR - MAX_WRITE_DELAY) {
      if (settled.size >= MAX_OBJECTS) settled.clear();
      settled.set(key, counts);
    }
    return counts;
  }

  /** The newest hours from the one of `since` on, and whether these are all. */
  async function readHours(since: number, until = Number.POSITIVE_INFINITY) {
    const keys: string[] = [];
    let isWhole = true;
    const startAfter = `${REFUSAL_COUNTS_FOLDER}${new Date(since).toISOString().slice(0, 13)}/`;
    for await (const key of store.keys(REFUSAL_COUNTS_FOLDER, { startAfter })) {
      if (startOf(hourOf(key)) >= until) break;
      if (keys.push(key) <= MAX_OBJECTS) continue;
      isWhole = false;
      keys.shift();
    }
    return { hours: await pLimit(AT_ONCE).map(keys, readHour), isWhole };
  }

  async function readDays(now: number): Promise<RefusalCounts> {
    const yesterday = new Date(now - DAY).toISOString().slice(0, 10);
    const { hours, isWhole } = await readHours(Date.parse(yesterday));
    return { counts: sumByDay(hours), complete: isWhole && hours.every(({ counts }) => counts !== null) };
  }

  async function readLastDay(now: number): Promise<SenderRefusals[]> {
    const { hours } = await readHours(now - DAY);
    const isNeeded = ({ hour, counts }: HourlyCounts) => counts !== null || startOf(hour) + HOUR > now - HOUR;
    return senderRefusals(hours.filter(isNeeded), now - DAY);
  }

  return {
    /** Everything since the beginning of yesterday in UTC. Rejects with `StoreError`. */
    daily: sharedRead(MAX_AGE.daily, readDays, clock),
    /** Minutes that began within the last day. Rejects with `StoreError`, and when objects of the last hour are damaged. */
    lastDay: sharedRead(MAX_AGE.lastDay, readLastDay, clock),
    /**
     * Minutes that began within a period, in milliseconds since the epoch. Rejects with `StoreError`, when objects of that period are
     * damaged, and when there are more than `MAX_OBJECTS`.
     */
    async between({
      since,
      until,
    }: {
      readonly since: number;
      readonly until: number;
    }): Promise<readonly SenderRefusals[]> {
      const { hours, isWhole } = await readHours(since, until);
      if (!isWhole) throw new Error('there are too many counts of refusals in this time');
      return senderRefusals(hours, since, until);
    },
  };
}

function hourOf(key: string): string {
  return key.slice(REFUSAL_COUNTS_FOLDER.length).slice(0, 13);
}

/** Start of an hour in milliseconds since the epoch; NaN for other text. */
function startOf(hour: string): number {
  return Date.parse(`${hour}:00Z`);
}

function sumByDay(hours: readonly HourlyCounts[]): DailyRefusals[] {
  const sums = new Map<string, DailyRefusals>();
  for (const { hour, counts } of hours) {
    for (const { fromSender: _, ...more } of counts ?? []) {
      const day = hour.slice(0, 10);
      const name = JSON.stringify([day, more.source, more.reason]);
      const { count, first, last } = sums.get(name) ?? { ...more, count: 0 };
      sums.set(name, {
        ...more,
        day,
        count: count + more.count,
        first: first < more.first ? first : more.first,
        last: last > more.last ? last : more.last,
      });
    }
  }
  return [...sums.values()].sort((a, b) => b.day.localeCompare(a.day) || b.count - a.count);
}

/** Throws when the counts of an hour are damaged. */
function senderRefusals(
  hours: readonly HourlyCounts[],
  since: number,
  until = Number.POSITIVE_INFINITY,
): SenderRefusals[] {
  return hours.flatMap(({ hour, counts }) => {
    if (counts === null) throw new Error(`the counts of refusals of ${hour} are damaged`);
    return counts.flatMap(({ source, reason, fromSender }) => {
      const minutes = Object.entries(fromSender)
        .map(([minute, count]) => [Date.parse(`${hour}:${minute}Z`), count] as const)
        .filter(([start]) => start >= since && start < until)
        .sort(([one], [other]) => one - other);
      return minutes.length === 0 ? [] : [{ source, reason, minutes }];
    });
  });
}

const COUNTS = z.object({
  counts: z.array(
    z.object({
      source: z.string().nullable(),
      reason: z.string(),
      count: z.int(),
      first: z.string(),
      last: z.string(),
      fromSender: z.record(z.string().regex(/^[0-5]\d$/), z.int()),
    }),
  ),
});
