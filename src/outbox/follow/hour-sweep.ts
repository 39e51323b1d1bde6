import { encodeTime } from 'ulid';
import { listPartition, listPartitions } from '../../ledger/ledger-reader.js';
import type { ObjectStore } from '../../store/object-store.js';
import { COMPACTED_HORIZON, listCompactedHours } from './compacted-hours.js';
import { hasPassed } from './has-passed.js';
import { DAY, folderOf, startOf } from './hour-folders.js';
import type { LedgerProgress } from './ledger-progress.js';
import { CLOCK_TOLERANCE } from './segment-reader.js';

export interface HourSweepOptions {
  readonly store: ObjectStore;
  readonly progress: LedgerProgress;
  /** Milliseconds since the epoch: when the subscription began. */
  readonly since: number;
  /** The first hour that can hold a delivery that ended after it. */
  readonly first: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Sends what is new of a closed hour. */
  readonly close: (hour: string, listsSegments?: boolean) => Promise<void>;
  /** Called with an hour that is open, and was not followed. */
  readonly onOpenHour: (hour: string) => void;
}

/** Between listings of the rollups of the last days, and of all. */
const SWEEP = 10 * 60_000;
const SWEPT = 3 * DAY;
/** How long hours without compaction are remembered. */
const HORIZON = 31 * DAY;

/**
 * Looks, from time to time, for lines in hours that are not followed any more, or never were. Throws as the
 * store does; the next call begins again.
 */
export function createHourSweep(options: HourSweepOptions): () => Promise<void> {
  const { store, progress, since, first, clock, close } = options;
  const { hours, sent } = progress;
  let sweptAt = Number.NEGATIVE_INFINITY;
  let sweptAllAt = Number.NEGATIVE_INFINITY;

  /**
   * Hours that had no segment when they were closed, and are not compacted; and those of replicas whose clock was wrong, also
   * hours to come.
   */
  async function findForgottenHours(now: number): Promise<void> {
    for await (const partition of listPartitions(store, { since: new Date(now - HORIZON).toISOString() })) {
      const hour = partition.slice('ledger/'.length);
      if (Number.isNaN(startOf(hour)) || hours.has(hour) || sent.get(hour) > 0) continue;
      // Most hours before the subscription have no segment that is younger than it.
      if (hour < first && !(await hasNames(store, partition, since - CLOCK_TOLERANCE))) continue;
      if (!progress.isClosed(hour)) options.onOpenHour(hour);
      else if (hour < progress.next) await close(hour);
    }
    const horizon = folderOf(now - HORIZON);
    for (const hour of hours.keys())
      if (hour < horizon && hour < progress.next && progress.isClosed(hour)) hours.delete(hour);
  }

  /** Finds late segments of closed hours: compaction has put them into further files. */
  return async () => {
    const now = clock();
    if (!hasPassed(SWEEP, sweptAt, now)) return;
    const isWhole = hasPassed(DAY, sweptAllAt, now);
    const files = await listCompactedHours(store, now - (isWhole ? COMPACTED_HORIZON : SWEPT));
    for (const [hour, last] of files) {
      if (hour >= progress.next) continue;
      const followed = hours.get(hour);
      if (followed !== undefined) {
        if (last > followed.files) progress.grown.add(hour);
      } else if (last > sent.get(hour)) await close(hour, sent.get(hour) === 0);
    }
    if (isWhole) {
      await findForgottenHours(now);
      sweptAllAt = now;
    }
    sweptAt = now;
  };
}

/** Whether a segment was written since, by its name. */
async function hasNames(store: ObjectStore, partition: string, writtenSince: number): Promise<boolean> {
  const startAfter = partition + encodeTime(writtenSince);
  for await (const _ of listPartition(store, partition, { startAfter })) return true;
  return false;
}
