import { createHalfDaySums } from './half-day-sums.js';
import { collectLastAccepted } from './last-accepted.js';
import type { DailyRollup, Rollup } from './rollup.js';
import { createRollupGroups } from './rollup-groups.js';

/**
 * Adds up rollups of one day.
 *
 * @param day `YYYY-MM-DD`
 */
export function sumRollups(
  day: string,
  rollups: readonly { readonly key: string; readonly rollup: Rollup }[],
): DailyRollup {
  const groups = createRollupGroups();
  const halfDays = createHalfDaySums();
  const lastAccepted = collectLastAccepted();
  for (const { rollup } of rollups) {
    const hour = hourOf(rollup.hour);
    for (const group of rollup.slots.flatMap((slot) => slot.groups)) {
      groups.add(hour, group, { ...group, durations: Object.entries(group.durations) });
      halfDays.add(hour, group);
    }
    lastAccepted.addAll(rollup.lastAccepted);
  }
  const sum = (field: 'rows' | 'broken' | 'newer') =>
    rollups.reduce((total, { rollup }) => total + rollup[field], 0);
  const instants = (field: 'first' | 'last') => rollups.flatMap(({ rollup }) => rollup[field] ?? []).sort();
  return {
    v: 1,
    day,
    rows: sum('rows'),
    first: instants('first')[0] ?? null,
    last: instants('last').at(-1) ?? null,
    broken: sum('broken'),
    newer: sum('newer'),
    lastAccepted: lastAccepted.result(),
    // In this order: `readDailyFigures` stops before `noteworthy`, and `readDailyCovers` before `slots`.
    halfDays: halfDays.result(),
    noteworthy: rollups.filter(({ rollup }) => isNoteworthy(rollup)).map(({ key }) => key),
    covers: rollups.map(({ key }) => key),
    slots: groups.slots().map(({ slot, groups: all }) => ({ hour: slot, groups: all })),
  };
}

/** The hour of the day of `dt=2026-03-04/hour=05/`. */
function hourOf(folder: string): number {
  return Number(/hour=(\d\d)\/$/.exec(folder)?.[1] ?? 0);
}

function isNoteworthy({ attention, attentionOmitted }: Rollup): boolean {
  return attention.length + attentionOmitted > 0;
}
