import { HOUR } from '../hours.js';
import { dailyRollupKey } from '../ledger-keys.js';
import { createLastAccepted } from './last-accepted.js';
import type { ChartRollup } from './rollup.js';
import { createRollupGroups } from './rollup-groups.js';

/**
 * Adds up rollups of one day, by hour. Statuses, which no chart tells apart, are left out.
 *
 * @param day `YYYY-MM-DD`
 */
export function sumRollups(
  day: string,
  rollups: readonly Pick<ChartRollup, 'slots' | 'lastAccepted'>[],
): ChartRollup {
  const groups = createRollupGroups();
  const last = createLastAccepted();
  for (const { slots, lastAccepted } of rollups) {
    for (const { start, groups: all } of slots) {
      for (const group of all) {
        const figures = { ...group, durations: Object.entries(group.durations) };
        groups.add(Math.floor(start / HOUR) * HOUR, { ...group, status: null }, figures);
      }
    }
    last.addAll({
      byRegion: Object.entries(lastAccepted.byRegion),
      bySource: Object.entries(lastAccepted.bySource),
      byCredential: Object.entries(lastAccepted.byCredential),
    });
  }
  return { v: 1, key: dailyRollupKey(day), files: 1, slots: groups.slots(), lastAccepted: last.result() };
}
