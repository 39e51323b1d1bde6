import type { ReconcileOrder } from './reconcile-order.js';
import type { RecoveryParts } from './recovery-parts.js';

/** How far back a run looks. */
export interface LookBack {
  /** Jobs of a region created at or after this. */
  readonly since: (region: string) => Date;
  /** The furthest of them. */
  readonly earliest: Date;
  /** Asked to look at less than a run without options, which leaves nothing out. */
  readonly limited: boolean;
  /** Regions where it leaves nothing out, if it is not kept from seeing them. */
  readonly complete: readonly string[];
}

/** The service's clock may differ from ours: a job made after a run may seem to be made before it. */
const CLOCK_TOLERANCE = 3_600_000;

/**
 * A run without options looks back over the window, and further to where the last run that left nothing out of a
 * region ended; no further than the service keeps results, and as far as that when there was no such run. So
 * nothing is left out because runs, a region or a replica paused.
 *
 * @param lookedUntil end of the last run that left nothing out of a region; null when there was none
 */
export function lookBack(
  { window, retention, speech }: Pick<RecoveryParts, 'window' | 'retention' | 'speech'>,
  order: Pick<ReconcileOrder, 'since' | 'regions' | 'source' | 'jobs'>,
  lookedUntil: (region: string) => number | null,
  now: number,
): LookBack {
  const needed = (region: string) => {
    const ended = lookedUntil(region) ?? Number.NEGATIVE_INFINITY;
    return Math.min(now - window, Math.max(now - retention, ended - CLOCK_TOLERANCE));
  };
  const since = (region: string) => order.since?.getTime() ?? needed(region);
  const asked = speech.regions.filter((region) => order.regions?.includes(region) ?? true);
  const wholeJobs = order.jobs === undefined && order.source === undefined;
  const complete = wholeJobs ? asked.filter((region) => since(region) <= needed(region)) : [];
  return {
    since: (region) => new Date(since(region)),
    earliest: new Date(
      order.jobs ? now - window : Math.min(...asked.map(since), order.since?.getTime() ?? now),
    ),
    limited: !wholeJobs || complete.length < speech.regions.length,
    complete,
  };
}
