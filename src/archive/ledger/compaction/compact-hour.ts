import { randomUUID } from 'node:crypto';
import type { ObjectStore } from '../../../store/object-store.js';
import { compactionPlanKey, LEDGER_FOLDER, rollupKey } from '../../layout.js';
import { isSegmentKey } from '../ledger-reader.js';
import type { CompactionParts } from './compaction-parts.js';
import { type CompactionPlan, createPlan } from './compaction-plan.js';
import { finishPlan } from './finish-plan.js';
import { type FinishedFiles, type HourFiles, readHourFiles } from './hour-files.js';
import type { Rollup } from './rollup.js';

const FILE_BYTES = 48 * 1024 * 1024;
/** Their names make a rollup of a megabyte. */
const FILE_SEGMENTS = 20_000;
const PLAN_TIMEOUT = 600_000;

export interface HourOptions {
  readonly signal?: AbortSignal | undefined;
  /** Lists only the segments whose names follow this one. Default: all. */
  readonly startAfter?: string | undefined;
  /** Called with the rollup of each file that this call finished. */
  readonly onFile?: (rollup: Rollup) => void;
  /** Called with the key of each plan that is done; default: deletes it. */
  readonly onPlanDone?: (planKey: string) => Promise<void>;
}

interface Segment {
  readonly name: string;
  readonly size: number;
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
  { signal, startAfter, onFile, onPlanDone = (key) => parts.store.delete(key) }: HourOptions = {},
): Promise<boolean> {
  const { store, clock, planTimeout = PLAN_TIMEOUT } = parts;
  const owner = randomUUID();
  const known: FinishedFiles = new Map();
  const segments = await listSegments(store, hour, startAfter);
  if (startAfter !== undefined && segments.length === 0) return true;
  for (;;) {
    signal?.throwIfAborted();
    const files = await readHourFiles(store, hour, known);
    for (const n of files.donePlans) await onPlanDone(compactionPlanKey(hour, n));
    const abandoned = files.openPlans.find(({ createdAt }) => clock() - createdAt.getTime() >= planTimeout);
    const plan = abandoned ?? nextPlan(segments, files, parts.fileBytes ?? FILE_BYTES);
    if (plan === null) return files.openPlans.length === 0;
    if (plan !== abandoned && !(await createPlan(store, hour, plan, owner))) continue;
    // A process that listed the hour before another one finished this number can claim it once more.
    const isDone = plan !== abandoned && (await store.head(rollupKey(hour, plan.n))) !== null;
    const rollup = isDone ? null : await finishPlan(parts, hour, plan, signal);
    if (rollup !== null) onFile?.(rollup);
    await onPlanDone(compactionPlanKey(hour, plan.n));
  }
}

/** Null when the files and the plans cover every segment. */
function nextPlan(segments: readonly Segment[], files: HourFiles, maxBytes: number): CompactionPlan | null {
  const covered = new Set([...files.finished, ...files.openPlans].flatMap(({ segments: names }) => names));
  const names: string[] = [];
  let bytes = 0;
  for (const { name, size } of segments) {
    if (covered.has(name)) continue;
    if (names.length > 0 && (bytes + size > maxBytes || names.length === FILE_SEGMENTS)) break;
    names.push(name);
    bytes += size;
  }
  return names.length === 0 ? null : { n: files.next, segments: names };
}

async function listSegments(store: ObjectStore, hour: string, startAfter?: string): Promise<Segment[]> {
  const folder = `${LEDGER_FOLDER}${hour}`;
  const segments: Segment[] = [];
  const options = startAfter === undefined ? undefined : { startAfter: folder + startAfter };
  for await (const { key, size } of store.list(folder, options)) {
    if (isSegmentKey(key)) segments.push({ name: key.slice(folder.length), size });
  }
  return segments;
}
