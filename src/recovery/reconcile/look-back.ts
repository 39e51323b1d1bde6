import type { RecoveryParts } from './recovery-parts.js';
import { LIST_OVERLAP } from './report/recovery-report.js';
import type { EarlierReports } from './report/report-store.js';

export type LookBack = ReturnType<typeof lookBack>;

export interface LookBackOptions {
  /** Jobs created at or after this. Default: as `lookBack` says. */
  readonly since?: Date | undefined;
  /** Default: all regions that have an address. */
  readonly regions?: readonly string[] | undefined;
  /** Only what should have come to this source. */
  readonly source?: string | undefined;
  /** Look back as far as the service keeps results, wherever earlier runs ended. */
  readonly full?: boolean;
}

const DAY = 86_400_000;

/**
 * Time range of a run. A run without options begins where the last run ended that left nothing out of a region; the first one of a day, in
 * UTC, lists the whole window: what was deleted here or appeared late in the list is found then. Without an earlier run it lists as far as
 * the service keeps results.
 *
 * @param now milliseconds since the epoch
 */
export function lookBack(
  { window, retention, speech }: Pick<RecoveryParts, 'window' | 'retention' | 'speech'>,
  options: LookBackOptions,
  completeUntil: EarlierReports['completeUntil'],
  now: number,
) {
  const furthest = now - retention;
  const everything = Math.min(furthest, now - window);
  const needed = (region: string) => {
    const ended = completeUntil.get(region);
    if (ended === undefined) return everything;
    const watermark = Math.max(furthest, ended - LIST_OVERLAP);
    const isSameDay = Math.floor(ended / DAY) === Math.floor(now / DAY);
    return isSameDay ? watermark : Math.min(now - window, watermark);
  };
  const since = (region: string) => options.since?.getTime() ?? (options.full ? everything : needed(region));
  const regions = speech.regions.filter((region) => options.regions?.includes(region) ?? true);
  const complete =
    options.source === undefined ? regions.filter((region) => since(region) <= needed(region)) : [];
  return {
    /** Jobs of a region created at or after this. */
    since: (region: string) => new Date(since(region)),
    /** The furthest of them. */
    earliest: new Date(Math.min(...regions.map(since), options.since?.getTime() ?? now)),
    /** The options make the run look at less than a run without options, which leaves nothing out. */
    limited: complete.length < speech.regions.length,
    /** Regions where the run leaves nothing out, unless a fault keeps it from seeing them. */
    complete,
  };
}
