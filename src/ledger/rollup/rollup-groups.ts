import { OTHER, type RollupGroup } from './rollup.js';

/** Upper bound of distinct names, which senders and hand-edited lines choose. Further names count as `OTHER`. */
export const MAX_NAMES = 100;
/** Upper bound of the groups of a slot. Lines of further ones count in a group whose names are all `OTHER`. */
const MAX_GROUPS = 1000;

const DIMENSIONS = ['source', 'region', 'status', 'origin', 'outcome'] as const;
type Names = Pick<RollupGroup, (typeof DIMENSIONS)[number]>;

/** Figures to add to a group. */
interface GroupFigures {
  readonly lines: number;
  readonly bytes: number;
  /** Number of durations by bucket. */
  readonly durations: Iterable<readonly [bucket: string, count: number]>;
  readonly maxDuration: number;
}

/** Groups by slot, in bounded memory. */
export interface RollupGroups {
  add(slot: number, names: Names, figures: GroupFigures): void;
  /** Slots in ascending order. */
  slots(): { start: number; groups: RollupGroup[] }[];
}

interface Sums extends Names {
  lines: number;
  bytes: number;
  readonly durations: Map<string, number>;
  maxDuration: number;
}

const ALL_OTHER: Names = { source: OTHER, region: OTHER, status: OTHER, origin: OTHER, outcome: OTHER };

/** Gives a name back, or `OTHER` beyond the first `MAX_NAMES` of its dimension. */
function boundNames() {
  const known = Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, new Set<string>()]));
  return <Name extends string | null>(dimension: string, name: Name): Name | typeof OTHER => {
    const names = known[dimension];
    if (name === null || names === undefined || names.has(name)) return name;
    if (names.size >= MAX_NAMES) return OTHER;
    names.add(name);
    return name;
  };
}

export function createRollupGroups(): RollupGroups {
  const slots = new Map<number, Map<string, Sums>>();
  const bounded = boundNames();

  function groupOf(slot: number, names: Names): Sums {
    const groups = slots.get(slot) ?? new Map<string, Sums>();
    slots.set(slot, groups);
    const key = JSON.stringify(DIMENSIONS.map((dimension) => names[dimension]));
    const found = groups.get(key);
    if (found !== undefined) return found;
    if (groups.size >= MAX_GROUPS && names !== ALL_OTHER) return groupOf(slot, ALL_OTHER);
    const sums = { ...names, lines: 0, bytes: 0, durations: new Map<string, number>(), maxDuration: 0 };
    groups.set(key, sums);
    return sums;
  }

  return {
    add(slot, { source, region, status, origin, outcome }, { lines, bytes, durations, maxDuration }) {
      const sums = groupOf(slot, {
        source: bounded('source', source),
        region: bounded('region', region),
        status: bounded('status', status),
        origin: bounded('origin', origin),
        outcome: bounded('outcome', outcome),
      });
      sums.lines += lines;
      sums.bytes += bytes;
      for (const [bucket, number] of durations) {
        sums.durations.set(bucket, (sums.durations.get(bucket) ?? 0) + number);
      }
      sums.maxDuration = Math.max(sums.maxDuration, maxDuration);
    },
    slots: () =>
      [...slots.entries()]
        .sort(([a], [b]) => a - b)
        .map(([start, groups]) => ({
          start,
          groups: [...groups.values()].map((sums) => ({
            ...sums,
            durations: Object.fromEntries(sums.durations),
          })),
        })),
  };
}
