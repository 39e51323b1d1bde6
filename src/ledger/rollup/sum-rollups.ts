import { startOfHour } from '../hours.js';
import { collectLastAccepted } from './last-accepted.js';
import type { DailyRollup, Rollup } from './rollup.js';
import { createRollupGroups } from './rollup-groups.js';

/**
 * Adds up rollups of one day. Statuses, which no chart tells apart, are left out.
 *
 * @param day `YYYY-MM-DD`
 */
export function sumRollups(
  day: string,
  rollups: readonly Pick<Rollup, 'hour' | 'slots' | 'lastAccepted'>[],
): DailyRollup {
  const groups = createRollupGroups();
  const lastAccepted = collectLastAccepted();
  for (const rollup of rollups) {
    const hour = new Date(startOfHour(rollup.hour)).getUTCHours();
    for (const group of rollup.slots.flatMap((slot) => slot.groups)) {
      const figures = { ...group, durations: Object.entries(group.durations) };
      groups.add(hour, { ...group, status: null }, figures);
    }
    lastAccepted.addAll(rollup.lastAccepted);
  }
  const slots = groups.slots().map(({ slot, groups: all }) => ({ hour: slot, groups: all }));
  return { v: 1, day, slots, lastAccepted: lastAccepted.result() };
}
