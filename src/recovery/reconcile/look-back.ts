import type { RecoveryParts } from './recovery-parts.js';
import { LIST_OVERLAP } from './report/recovery-report.js';
import type { EarlierReports } from './report/report-store.js';

export type LookBack = ReturnType<typeof lookBack>;

const DAY = 86_400_000;

/**
 * Time range that a run lists, by region. It begins at the region's watermark, the end of its last complete run. The first run of a day
 * (UTC) lists the whole window, which finds artefacts deleted here and jobs that appeared late in the list. Without an earlier complete
 * run it lists as far back as the service keeps results.
 *
 * @param since the range begins at this time or earlier
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
    /** The earliest of these times, of all regions. */
    earliest: new Date(Math.min(...speech.regions.map(begin), now)),
  };
}
