import { setImmediate as immediate } from 'node:timers/promises';
import pLimit from 'p-limit';
import {
  type RollupFigures as RollupDocument,
  readDailyRollup,
  readRollupFigures,
} from '../archive/ledger/compaction/parse-rollup.js';
import type { DailyRollup } from '../archive/ledger/compaction/rollup.js';
import type { SourceScope } from '../domain/rights.js';
import type { ObjectStore } from '../store/object-store.js';
import { packDailyRollup, packRollup, type RollupFigures } from './rollup-figures.js';
import type { RollupListing, RollupsOfDay } from './rollup-listing.js';
import { DAY, HOUR, mergeRanges, type TimeRange } from './time-ranges.js';

/** Figures of a range of whole hours, and what of it they do not cover. */
export interface RollupCoverage {
  readonly files: readonly RollupFigures[];
  /** Whether an hour of the range has a rollup; `files` has its figures unless it is among the gaps. */
  holds(hour: number): boolean;
  /** Hours with deliveries whose figures are unknown, oldest first. */
  readonly gaps: readonly TimeRange[];
  /** Why rollups could not be used. */
  readonly faults: readonly string[];
}

export interface RollupReader {
  /**
   * Reads the figures of hours from a store, or from memory: rollups never change. Never rejects: a store that fails is
   * a fault, and the range a gap.
   *
   * @param byDay whether slots of an hour are short enough; without it they have ten minutes
   * @param scope only the figures of these sources
   */
  figures(range: TimeRange, byDay: boolean, scope: SourceScope): Promise<RollupCoverage>;
  /** The rollup itself, of an hour or of a day; null when it cannot be read as one. Rejects with `StoreError`. */
  rollup(key: string): Promise<RollupDocument | null>;
  daily(key: string): Promise<DailyRollup | null>;
}

/** Reads at once. */
const CONCURRENCY = 32;
/** Bytes of the figures in memory, roughly: those of a year, or of a week of 100 million deliveries a day. */
const MAX_CACHED = 48 * 1024 * 1024;
export function createRollupReader(store: ObjectStore, listing: RollupListing): RollupReader {
  const limit = pLimit(CONCURRENCY);
  const cache = new Map<string, RollupFigures>();
  const reading = new Map<string, Promise<RollupFigures | null>>();
  let cached = 0;

  function keep(key: string, figures: RollupFigures): RollupFigures {
    cached += figures.weight - (cache.get(key)?.weight ?? 0);
    cache.delete(key);
    cache.set(key, figures);
    for (const [oldest, { weight }] of cache) {
      if (cached <= MAX_CACHED) break;
      cache.delete(oldest);
      cached -= weight;
    }
    return figures;
  }

  /** Whoever reads a rollup for its lines will need its figures too. */
  async function readAndKeep<Document>(
    key: string,
    scope: SourceScope,
    read: (store: ObjectStore, key: string) => Promise<Document | null>,
    pack: (document: Document, scope: SourceScope) => RollupFigures,
  ): Promise<{ document: Document; figures: RollupFigures } | null> {
    const document = await limit(() => read(store, key));
    // Callbacks get a turn after each document.
    await immediate();
    return document && { document, figures: keep(cacheKey(key, scope), pack(document, scope)) };
  }
  const rollup = (key: string, scope: SourceScope) => readAndKeep(key, scope, readRollupFigures, packRollup);
  const daily = (key: string, scope: SourceScope) =>
    readAndKeep(key, scope, readDailyRollup, packDailyRollup);

  function figuresOf(
    key: string,
    scope: SourceScope,
    read: typeof rollup | typeof daily,
  ): Promise<RollupFigures | null> {
    const name = cacheKey(key, scope);
    const known = cache.get(name);
    if (known !== undefined) return Promise.resolve(keep(name, known));
    const pending = reading.get(name);
    if (pending !== undefined) return pending;
    const begun = read(key, scope)
      .then((found) => found?.figures ?? null)
      .finally(() => reading.delete(name));
    reading.set(name, begun);
    return begun;
  }

  return {
    async figures(range, byDay, scope) {
      const files: RollupFigures[] = [];
      const gaps: TimeRange[] = [];
      const faults: string[] = [];
      let days: RollupsOfDay[] = [];

      async function take(key: string, covers: TimeRange, figures: Promise<RollupFigures | null>) {
        const read = await figures.catch((error: unknown) => asText(error));
        if (read !== null && typeof read !== 'string') return void files.push(read);
        gaps.push(covers);
        faults.push(read ?? `${key} is damaged or of a newer version`);
      }
      function* reads({ start, daily: keysOfDay, hours }: RollupsOfDay) {
        for (const key of keysOfDay)
          yield take(key, { since: start, until: start + DAY }, figuresOf(key, scope, daily));
        for (const [hour, keys] of hours) {
          if (hour >= range.until || hour + HOUR <= range.since) continue;
          for (const key of keys)
            yield take(key, { since: hour, until: hour + HOUR }, figuresOf(key, scope, rollup));
        }
      }

      try {
        days = await listing.days(range.since, range.until, byDay);
      } catch (error) {
        return { files, holds: () => false, gaps: [range], faults: [asText(error)] };
      }
      for (const { bare } of days) gaps.push(...bare.map((hour) => ({ since: hour, until: hour + HOUR })));
      await Promise.all(days.flatMap((day) => [...reads(day)]));
      return {
        files,
        holds: (hour) =>
          days.some(
            ({ daily, start, hours }) =>
              (daily.length > 0 && hour >= start && hour < start + DAY) || hours.has(hour),
          ),
        gaps: mergeRanges(gaps, range),
        faults,
      };
    },
    rollup: async (key) => (await rollup(key, null))?.document ?? null,
    daily: async (key) => (await daily(key, null))?.document ?? null,
  };
}

/** The configuration names few scopes. Names of sources hold no space. */
function cacheKey(key: string, scope: SourceScope): string {
  return scope === null ? key : [key, ...[...scope].sort()].join(' ');
}

function asText(error: unknown): string {
  return error instanceof Error ? error.message : 'the store failed';
}
