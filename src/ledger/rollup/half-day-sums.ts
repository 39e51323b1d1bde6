import { type HalfDay, OTHER, type RollupGroup, type SourceFigures } from './rollup.js';
import { boundNames } from './rollup-groups.js';

/** Upper bound of pairs of source and origin in a half day. Lines of further pairs count where both are `OTHER`. */
const MAX_PAIRS = 500;
const OTHER_PAIR = JSON.stringify([OTHER, OTHER]);

/** Adds figures up by half day, source and origin, in bounded memory. */
export interface HalfDaySums {
  /** @param hour of the day */
  add(hour: number, group: RollupGroup): void;
  result(): HalfDay[];
}

interface Sums {
  readonly source: string | null;
  readonly origin: string;
  lines: number;
  bytes: number;
  readonly outcomes: Map<string, number>;
  readonly regions: Map<string, number>;
  readonly durations: Map<string, number>;
  maxDuration: number;
}

export function createHalfDaySums(): HalfDaySums {
  const halves = new Map<number, Map<string, Sums>>();
  const bounded = boundNames();

  function sumsOf(hour: number, source: string | null, origin: string): Sums {
    const pairs = halves.get(hour) ?? new Map<string, Sums>();
    halves.set(hour, pairs);
    const key = JSON.stringify([source, origin]);
    const known = pairs.get(key);
    if (known !== undefined) return known;
    if (pairs.size >= MAX_PAIRS && key !== OTHER_PAIR) return sumsOf(hour, OTHER, OTHER);
    const sums = { ...{ source, origin, lines: 0, bytes: 0, maxDuration: 0 }, ...emptyCounts() };
    pairs.set(key, sums);
    return sums;
  }

  return {
    add(hour, { source, origin, outcome, region, lines, bytes, durations, maxDuration }) {
      const half = hour < 12 ? 0 : 12;
      const sums = sumsOf(half, bounded('source', source), bounded('origin', origin));
      sums.lines += lines;
      sums.bytes += bytes;
      countUp(sums.outcomes, bounded('outcome', outcome), lines);
      countUp(sums.regions, bounded('region', region) ?? 'none', lines);
      for (const bucket in durations) countUp(sums.durations, bucket, durations[bucket] ?? 0);
      sums.maxDuration = Math.max(sums.maxDuration, maxDuration);
    },
    result: () =>
      [...halves]
        .sort(([a], [b]) => a - b)
        .map(([hour, pairs]) => ({ hour, sources: [...pairs.values()].map(asFigures) })),
  };
}

function emptyCounts() {
  const counts = () => new Map<string, number>();
  return { outcomes: counts(), regions: counts(), durations: counts() };
}

function asFigures({ outcomes, regions, durations, ...sums }: Sums): SourceFigures {
  return {
    ...sums,
    outcomes: Object.fromEntries(outcomes),
    regions: Object.fromEntries(regions),
    durations: Object.fromEntries(durations),
  };
}

function countUp(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
