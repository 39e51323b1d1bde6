import pLimit from 'p-limit';
import type { SourceScope } from '../../../domain/rights.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { createWorkQueue } from '../../../time/work-queue.js';
import { HOUR } from '../../hours.js';
import { readRollup } from '../../rollup/read-rollup.js';
import type { ChartRollup } from '../../rollup/rollup.js';
import { mergeRanges, type TimeRange } from '../time-ranges.js';
import { packRollup, type RollupFigures } from './rollup-figures.js';
import type { RollupListing, RollupPart } from './rollup-listing.js';

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
   * @param longest slot that is short enough, in milliseconds: those of days have an hour, others ten minutes
   * @param scope only the figures of these sources
   */
  figures(range: TimeRange, longest: number, scope: SourceScope): Promise<RollupCoverage>;
}

/** Reads at once. */
const CONCURRENCY = 32;
/** Bytes of the figures in memory, roughly: those of a year, or of a week of 100 million deliveries a day. */
const MAX_CACHED = 48 * 1024 * 1024;

export function createRollupReader(store: ObjectStore, listing: RollupListing): RollupReader {
  const limit = pLimit(CONCURRENCY);
  const pack = createWorkQueue();
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

  async function read(key: string, scope: SourceScope): Promise<RollupFigures | null> {
    const rollup = await limit(() => readRollup<ChartRollup>(store, key));
    return rollup && pack(() => packRollup(rollup, scope));
  }

  function figuresOf(key: string, scope: SourceScope): Promise<RollupFigures | null> {
    const name = nameOf(key, scope);
    const known = cache.get(name);
    if (known !== undefined) return Promise.resolve(keep(name, known));
    const pending = reading.get(name);
    if (pending !== undefined) return pending;
    const begun = read(key, scope)
      .then((figures) => figures && keep(name, figures))
      .finally(() => reading.delete(name));
    reading.set(name, begun);
    return begun;
  }

  return {
    async figures(range, longest, scope) {
      const files: RollupFigures[] = [];
      const gaps: TimeRange[] = [];
      const faults: string[] = [];

      async function take(part: RollupPart): Promise<void> {
        const found = await Promise.all(
          part.keys.map(async (key) => {
            const figures = await figuresOf(key, scope).catch(asText);
            if (figures !== null && typeof figures !== 'string') return figures;
            faults.push(figures ?? `${key} is damaged or of a newer version`);
            return [];
          }),
        );
        const own = found.flat();
        files.push(...own);
        if (own[0]?.files !== own.length) gaps.push(part);
      }

      try {
        const { parts, bare } = await listing.list(range, longest >= HOUR);
        gaps.push(...bare);
        await Promise.all(parts.map(take));
        return {
          files,
          holds: (hour) => parts.some(({ since, until }) => hour >= since && hour < until),
          gaps: mergeRanges(gaps, range),
          faults,
        };
      } catch (error) {
        return { files: [], holds: () => false, gaps: [range], faults: [asText(error)] };
      }
    },
  };
}

/** The configuration names few scopes. Names of sources hold no space. */
function nameOf(key: string, scope: SourceScope): string {
  return scope === null ? key : [key, ...[...scope].sort()].join(' ');
}

function asText(error: unknown): string {
  return error instanceof Error ? error.message : 'the store failed';
}
