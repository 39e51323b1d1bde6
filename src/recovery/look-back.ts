import { CLOCK_TOLERANCE } from './clock-tolerance.js';
import type { RecoveryParts } from './recovery-parts.js';

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
}

export interface LookBackOptions {
  readonly since?: Date | undefined;
  readonly regions?: readonly string[] | undefined;
  readonly source?: string | undefined;
}

/**
 * A run without options looks back over the window, and further to where the last run that left nothing out of a
 * region ended; no further than the service keeps results, and as far as that when there was no such run. So
 * nothing is left out because runs, a region or a replica paused.
 *
 * @param lookedUntil end of the last run that left nothing out of a region; null when there was none
 * @param now milliseconds since the epoch
 */
export function lookBack(
  { window, retention, speech }: Pick<RecoveryParts, 'window' | 'retention' | 'speech'>,
  options: LookBackOptions,
  lookedUntil: (region: string) => number | null,
  now: number,
): LookBack {
  const needed = (region: string) => {
    const ended = lookedUntil(region) ?? Number.NEGATIVE_INFINITY;
    return Math.min(now - window, Math.max(now - retention, ended - CLOCK_TOLERANCE));
  };
  const since = (region: string) => options.since?.getTime() ?? needed(region);
  const regions = speech.regions.filter((region) => options.regions?.includes(region) ?? true);
  const complete =
    options.source === undefined ? regions.filter((region) => since(region) <= needed(region)) : [];
  return {
    since: (region) => new Date(since(region)),
    earliest: new Date(Math.min(...regions.map(since), options.since?.getTime() ?? now)),
    limited: complete.length < speech.regions.length,
    complete,
  };
}
