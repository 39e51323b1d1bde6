import { compactionPlanKey, rollupKey } from '../ledger-keys.js';
import { describeGap, findGaps } from '../rollup/covered-numbers.js';
import type { Rollup } from '../rollup/rollup.js';
import type { CompactionParts } from './compaction-parts.js';
import { claimPlan } from './compaction-plan.js';
import { type FinishOptions, finishFile } from './finish-file.js';
import { readHourFiles } from './hour-files.js';

const FILE_BYTES = 48 * 1024 * 1024;
const PLAN_TIMEOUT = 600_000;

export interface HourOptions extends FinishOptions {
  /** Folder of the last hour before this one that has lines. */
  readonly previous?: string | null;
  /** Called with the rollup of each file that this call finished. */
  readonly onFile?: (rollup: Rollup) => void;
}

/**
 * Compacts an hour that is whole, or finishes what a process that died has left. Resolves to false when another process is at work on
 * it, or something is damaged that keeps it from being complete.
 *
 * Throws `StoreError`, and the signal's reason; the next call continues from there.
 */
export async function compactHour(
  parts: CompactionParts,
  hour: string,
  { previous = null, onFile, ...options }: HourOptions = {},
): Promise<boolean> {
  const { store, clock, planTimeout = PLAN_TIMEOUT, fileBytes = FILE_BYTES } = parts;
  const before = await readHourFiles(store, hour);
  for (const { message } of before.faults) options.onFault?.(message);
  if (before.isCompacted) return leave(parts, hour);
  if (before.faults.length > 0) return false;
  const plan = await claimPlan(store, hour, previous, fileBytes);
  if (plan === null) return true;
  const { madeBefore } = plan;
  if (madeBefore !== null && clock() - madeBefore.getTime() < planTimeout) return false;
  // Another process can have finished the hour, plan and all, before this one made its own: then that is of no use.
  const { rollups } = await readHourFiles(store, hour);
  const [made] = rollups;
  if (made !== undefined && rollups.length === made.files) return leave(parts, hour);
  for (const gap of findGaps(plan.files)) options.onFault?.(describeGap(hour, gap));
  const numbers = plan.files.map((_, index) => index + 1);
  // A replica that takes over begins at the other end: the former holder may still be at work.
  for (const n of madeBefore === null ? numbers : numbers.reverse()) {
    options.signal?.throwIfAborted();
    if ((await store.head(rollupKey(hour, n))) !== null) continue;
    const rollup = await finishFile(parts, hour, plan, n, options);
    if (rollup !== null) onFile?.(rollup);
  }
  return leave(parts, hour);
}

/** The hour is complete: its plan, which a process that died may have left, is of no use any more. */
async function leave({ store }: CompactionParts, hour: string): Promise<true> {
  const key = compactionPlanKey(hour);
  if ((await store.head(key)) !== null) await store.delete(key);
  return true;
}
