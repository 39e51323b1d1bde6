import type { RecoveryParts } from './recovery-parts.js';
import { LIST_OVERLAP } from './report/recovery-report.js';
import type { EarlierReports } from './report/report-store.js';

export type LookBack = ReturnType<typeof lookBack>;

const DAY = 86_400_000;

/**
 * Time range of a run. It begins where the last run ended that left nothing out of a region; the first one of a day, in UTC, lists the
 * whole window: what was deleted here or appeared late in the list is found then. Without an earlier run it lists as far as the service
 * keeps results. So a run leaves nothing out that those before it have not seen.
 *
 * @param since looks back at least as far as this
 * @param now milliseconds since the epoch
 */
export function lookBack(
  { window, retention, speech }: Pick<RecoveryParts, 'window' | 'retention' | 'speech'>,
  since: Date | undefined,
  completeUntil: EarlierReports['completeUntil'],
  now: number,
) {
  const furthest = now - retention;
  const needed = (region: string) => {
    const ended = completeUntil.get(region);
    if (ended === undefined) return Math.min(furthest, now - window);
    const watermark = Math.max(furthest, ended - LIST_OVERLAP);
    const isSameDay = Math.floor(ended / DAY) === Math.floor(now / DAY);
    return isSameDay ? watermark : Math.min(now - window, watermark);
  };
  const begin = (region: string) => Math.min(needed(region), since?.getTime() ?? now);
  return {
    /** Jobs of a region created at or after this. */
    since: (region: string) => new Date(begin(region)),
    /** The furthest of them. */
    earliest: new Date(Math.min(...speech.regions.map(begin), now)),
  };
}
