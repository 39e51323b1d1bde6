import { isErased } from '../../archive/erasure/erasure.js';
import type { LedgerView } from '../../index/ledger-view.js';
import { type IndexAndLog, linesBeforeIndex } from '../../index/questions/lines-before-index.js';
import type { JobRecord } from '../../speech/wire.js';
import type { RecoveryParts } from './recovery-parts.js';

/** Milliseconds. The service's clock may differ from ours: a job created after a run may carry a time before it. */
export const SERVICE_CLOCK_TOLERANCE = 3_600_000;

/**
 * Earliest time of ledger lines of a job; ISO 8601.
 *
 * @param createdAt by the service's clock
 * @param now milliseconds since the epoch
 */
export function searchFrom(createdAt: string, now: number): string {
  const from = Math.min(Date.parse(createdAt), now) - SERVICE_CLOCK_TOLERANCE;
  return new Date(Number.isNaN(from) ? 0 : from).toISOString();
}

/** Whether the job was erased, by its mark or, if the store was restored without marks, by the ledger. Rejects with `StoreError`. */
export async function wasErased(
  { store, view, clock }: Pick<RecoveryParts, 'store' | 'view' | 'clock'>,
  { id, created_at }: Pick<JobRecord, 'id' | 'created_at'>,
): Promise<boolean> {
  return (
    (await isErased(store, id)) || isErasedInLedger({ store, view }, id, searchFrom(created_at, clock()))
  );
}

/**
 * Whether a ledger line records the erasure of the job. Needed when a bucket was restored without its dot-folders, and so without marks.
 * Waits for an index that is being built, and reads the log for the time before the index. Rejects with `StoreError` and `IndexError`.
 *
 * @param since ISO 8601
 */
export async function isErasedInLedger(
  from: IndexAndLog & { readonly view: Pick<LedgerView, 'hasErased'> },
  job: string,
  since: string,
): Promise<boolean> {
  const begin = await from.view.reachBack(Date.parse(since));
  if (await from.view.hasErased(job, Date.parse(since))) return true;
  return (await erasedBefore(from, Date.parse(since), begin)).has(job);
}

/** Cache by store of the jobs erased before the index begins: many are asked for in a row. */
const known = new WeakMap<
  object,
  { readonly since: number; readonly until: number; readonly jobs: Set<string> }
>();

async function erasedBefore(from: IndexAndLog, since: number, until: number): Promise<ReadonlySet<string>> {
  if (until <= since) return new Set();
  const read = known.get(from.store);
  if (read !== undefined && read.since <= since && read.until >= until) return read.jobs;
  const jobs = new Set<string>();
  for await (const { line } of linesBeforeIndex(from, since))
    if (line.outcome === 'erased' && line.jobId !== null) jobs.add(line.jobId);
  known.set(from.store, { since, until, jobs });
  return jobs;
}
