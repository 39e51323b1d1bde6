import { LIST_OVERLAP } from './clock-tolerance.js';
import type { RecoveryParts } from './recovery-parts.js';
import type { EarlierReports } from './report/report-store.js';

/** How far back a run looks. */
export interface LookBack {
  /** Jobs of a region created at or after this. */
  readonly since: (region: string) => Date;
  /** The furthest of them. */
  readonly earliest: Date;
  /** The options make the run look at less than a run without options, which leaves nothing out. */
  readonly limited: boolean;
  /** Regions where the run leaves nothing out, unless a fault keeps it from seeing them. */
  readonly complete: readonly string[];
  /** Those of them whose whole window it lists. */
  readonly whole: readonly string[];
}

export interface LookBackOptions {
  readonly since?: Date | undefined;
  readonly regions?: readonly string[] | undefined;
  readonly source?: string | undefined;
  readonly full?: boolean | undefined;
}

/** Milliseconds after which the whole window is listed again: what was deleted here or appeared late in the list is found then. */
const WHOLE_WINDOW_EVERY = 86_400_000;

/**
 * A run without options begins where the last run ended that left nothing out of a region. It lists the whole window when that
 * was last done a day ago or for other expectations, and as far as the service keeps results when there was no such run.
 *
 * @param now milliseconds since the epoch
 */
export function lookBack(
  { window, retention, speech }: Pick<RecoveryParts, 'window' | 'retention' | 'speech'>,
  options: LookBackOptions,
  { lookedUntil, wholeWindow }: Pick<EarlierReports, 'lookedUntil' | 'wholeWindow'>,
  now: number,
): LookBack {
  const furthest = now - retention;
  const needed = (region: string) => {
    const ended = lookedUntil(region);
    if (ended === null) return Math.min(furthest, now - window);
    const watermark = Math.max(furthest, ended - LIST_OVERLAP);
    const isRecent = now - Date.parse(wholeWindow.at[region] ?? '') < WHOLE_WINDOW_EVERY;
    return isRecent ? watermark : Math.min(now - window, watermark);
  };
  const since = (region: string) =>
    options.since?.getTime() ?? (options.full ? Math.min(furthest, now - window) : needed(region));
  const regions = speech.regions.filter((region) => options.regions?.includes(region) ?? true);
  const complete =
    options.source === undefined ? regions.filter((region) => since(region) <= needed(region)) : [];
  return {
    since: (region) => new Date(since(region)),
    earliest: new Date(Math.min(...regions.map(since), options.since?.getTime() ?? now)),
    limited: complete.length < speech.regions.length,
    complete,
    whole: complete.filter((region) => since(region) <= now - window),
  };
}
