import { randomUUID } from 'node:crypto';
import { compactionPlanKey, rollupKey } from '../ledger-keys.js';
import type { CompactionParts } from './compaction-parts.js';
import { createPlan } from './compaction-plan.js';
import { finishPlan } from './finish-plan.js';
import { type FinishedFiles, lostRollup, readHourFiles } from './hour-files.js';
import type { Rollup } from './rollup.js';
import { listUncovered } from './uncovered-segments.js';

const FILE_BYTES = 48 * 1024 * 1024;
const PLAN_TIMEOUT = 600_000;

export interface HourOptions {
  readonly signal?: AbortSignal | undefined;
  /** Lists only the segments whose names follow this one. Default: all. */
  readonly startAfter?: string | undefined;
  /** Called with the rollup of each file that this call finished. */
  readonly onFile?: (rollup: Rollup) => void;
  /** Called with what is damaged or missing and does not hinder the compaction. */
  readonly onFault?: (reason: string) => void;
  /** Called with the key of each plan that is done; default: deletes it. */
  readonly onPlanDone?: (planKey: string) => Promise<void>;
}

/**
 * Compacts what no file of an hour covers yet, and finishes the plans of processes that died. Resolves to whether the
 * hour is complete: false when another process still works on a file of it.
 *
 * Throws `StoreError`, and the signal's reason; the next call continues from there.
 */
export async function compactHour(
  parts: CompactionParts,
  hour: string,
  { signal, startAfter, onFile, onFault, onPlanDone = (key) => parts.store.delete(key) }: HourOptions = {},
): Promise<boolean> {
  const { store, clock, planTimeout = PLAN_TIMEOUT } = parts;
  const owner = randomUUID();
  const known: FinishedFiles = new Map();
  const uncovered = listUncovered(store, hour, startAfter);
  if (startAfter !== undefined && (await uncovered.isEmpty())) return true;
  for (;;) {
    signal?.throwIfAborted();
    const files = await readHourFiles(store, hour, known);
    for (const file of files.finished) {
      if (file.parquetKey !== null && file.extent === null) onFault?.(lostRollup(file.rollupKey).message);
      uncovered.cover(file);
      // Of hours with hundreds of thousands of segments their names would be most of the memory.
      known.set(file.rollupKey, { ...file, segments: [] });
    }
    for (const plan of files.openPlans) uncovered.cover(plan);
    for (const n of files.donePlans) await onPlanDone(compactionPlanKey(hour, n));
    const abandoned = files.openPlans.find(({ createdAt }) => clock() - createdAt.getTime() >= planTimeout);
    const plan = abandoned ?? {
      n: files.next,
      segments: await uncovered.first(parts.fileBytes ?? FILE_BYTES),
    };
    if (plan.segments.length === 0 && plan !== abandoned) return files.openPlans.length === 0;
    if (plan !== abandoned && !(await createPlan(store, hour, plan, owner))) continue;
    // A process that listed the hour before another one finished this number can claim it once more.
    const isDone = plan !== abandoned && (await store.head(rollupKey(hour, plan.n))) !== null;
    const rollup = isDone ? null : await finishPlan(parts, hour, plan, { signal, onFault });
    if (rollup !== null) onFile?.(rollup);
    await onPlanDone(compactionPlanKey(hour, plan.n));
  }
}
