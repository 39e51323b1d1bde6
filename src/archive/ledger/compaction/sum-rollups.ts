import type { DailyRollup, Rollup } from './rollup.js';

/** Adds up rollups of a day. */
export function sumRollups(
  day: string,
  rollups: readonly { readonly key: string; readonly rollup: Rollup }[],
): DailyRollup {
  return {
    v: 1,
    day,
    covers: rollups.map(({ key }) => key),
    noteworthy: [],
    rows: 0,
    firstReceivedAt: null,
    lastReceivedAt: null,
    broken: 0,
    newer: 0,
    slots: [],
    lastAccepted: { bySource: {}, byRegion: {}, byCredential: {} },
  };
}
