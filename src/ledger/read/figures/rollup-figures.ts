import { isDelivery } from '../../../domain/delivery.js';
import { isInScope, type SourceScope } from '../../../domain/rights.js';
import { type ChartRollup, type LastAccepted, OTHER, type RollupGroup } from '../../rollup/rollup.js';
import { countUp, type PackedFigures } from './summary-figures.js';

/** The figures of a rollup that charts show, in little memory. */
export interface RollupFigures {
  readonly slots: readonly { readonly start: number; readonly figures: PackedFigures }[];
  readonly last: Record<keyof LastAccepted, ReadonlyMap<string, number>>;
  /** Lines of sources that have no name here, because there are too many. */
  readonly hasOtherSources: boolean;
  /** How many rollups its hour has; 1 for that of a day. */
  readonly files: number;
  /** Bytes in memory, roughly. */
  readonly weight: number;
}

/** @param scope only the figures of these sources */
export function packRollup(
  { slots, lastAccepted, files }: Pick<ChartRollup, 'slots' | 'lastAccepted' | 'files'>,
  scope: SourceScope,
): RollupFigures {
  const { byRegion, bySource, byCredential } = lastAccepted;
  const packed = slots.map(({ start, groups }) => ({ start, figures: packGroups(ofSources(groups, scope)) }));
  const last = {
    byRegion: scope === null ? timesOf(byRegion) : new Map<string, number>(),
    bySource: timesOf(bySource, (source) => isInScope(scope, source)),
    byCredential: timesOf(byCredential, (name) => isInScope(scope, name.slice(0, name.indexOf('/')))),
  };
  const names = last.byRegion.size + last.bySource.size + last.byCredential.size;
  const weight = packed.reduce((sum, { figures }) => sum + weightOf(figures), 200 + names * 64);
  const hasOtherSources = slots.some(({ groups }) => groups.some(({ source }) => source === OTHER));
  return { slots: packed, last, weight, hasOtherSources, files };
}

/** Lines without a source are in the figures of all sources only, and so are those whose source has no name of its own. */
function ofSources(groups: readonly RollupGroup[], scope: SourceScope): readonly RollupGroup[] {
  if (scope === null) return groups;
  return groups.filter(({ source }) => source !== OTHER && isInScope(scope, source));
}

/** Without `createFigures`, whose histograms make it four times slower: a chart of a year packs 8,760 slots. */
function packGroups(groups: readonly RollupGroup[]): PackedFigures {
  const outcomes = new Map<string, number>();
  const regions = new Map<string, number>();
  const durations: number[] = [];
  let [lines, bytes, maxDuration] = [0, 0, 0];
  for (const group of groups) {
    if (!isDelivery(group.origin)) continue;
    lines += group.lines;
    bytes += group.bytes;
    countUp(outcomes, group.outcome, group.lines);
    countUp(regions, group.region ?? 'none', group.lines);
    maxDuration = Math.max(maxDuration, group.maxDuration);
    for (const name in group.durations) {
      const bucket = Number(name);
      durations[bucket] = (durations[bucket] ?? 0) + (group.durations[name] ?? 0);
    }
  }
  return { lines, bytes, outcomes, regions, durations: pairsOf(durations), maxDuration };
}

/** Each bucket with callbacks, followed by these. */
function pairsOf(counts: readonly number[]): Uint32Array {
  const pairs: number[] = [];
  counts.forEach((count, bucket) => {
    pairs.push(bucket, count);
  });
  return Uint32Array.from(pairs);
}

function weightOf({ outcomes, regions, durations }: PackedFigures): number {
  return 400 + (outcomes.size + regions.size) * 40 + durations.byteLength;
}

function timesOf(
  times: Readonly<Record<string, number>>,
  isWanted: (name: string) => boolean = () => true,
): Map<string, number> {
  return new Map(Object.entries(times).filter(([name]) => isWanted(name)));
}
