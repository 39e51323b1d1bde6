import type { ArtefactContext } from '../archive/artefact-headers.js';
import { isErased } from '../archive/erasure.js';
import type { Ledger } from '../archive/ledger/ledger.js';
import { newDeliveryId } from '../archive/ledger/ledger-line.js';
import type { JobsClient } from '../speech/batch/jobs-client.js';
import { isPaused } from '../speech/speech-error.js';
import type { JobRecord } from '../speech/wire.js';
import type { ObjectStore } from '../store/object-store.js';
import { concluded, untouched } from './conclude.js';
import { type Expectation, type ExpectedItem, expectationOf } from './expectation.js';
import { ERASED, ErasedError } from './fetch-item.js';
import { fetchMissing, type ItemResult, inWords, notFetched } from './fetch-missing.js';
import { joinReasons } from './join-reasons.js';
import { needsLook, type Plan, planJob } from './plan.js';
import { type RecoveryRecord, recordRecovery } from './record-recovery.js';
import type { JobOrder, RecoveryParts } from './recovery-parts.js';
import type { RecoveredJob } from './recovery-report.js';

const LEFT_ERASED: Plan = { step: 'matched', missing: [], reason: ERASED };

/**
 * The story of one job: what should be here, what is here, what is to be done, do it, record it. Null when
 * the job is none of ours. Before anything was stored it rejects when the order's signal says so, or with `paused`
 * when the region must not be asked now; all else becomes an outcome.
 */
export async function recoverJob(
  parts: RecoveryParts,
  client: JobsClient,
  job: JobRecord,
  order: JobOrder,
): Promise<RecoveredJob | null> {
  const expectation = expectationOf(job, { ...parts, source: order.source, insist: order.insist });
  if (expectation === null) return null;
  const now = parts.clock ?? Date.now;
  const started = now();
  const conclude = (results: readonly ItemResult[], reason: string | null) =>
    concluded(job, client.region, results, reason, parts, started);
  try {
    const plan = await decide(parts, job, expectation, order, started);
    if (order.dryRun || plan.step === 'matched' || plan.step === 'pending') {
      return untouched(job, client.region, plan);
    }
    const contextOf = contextsOf(job, client.region, parts, order, started);
    const results = await carryOut(parts, client, plan, contextOf, order);
    const told = conclude(results, plan.reason);
    const durationMs = Math.max(0, now() - started);
    return await recorded(parts.ledger, { told, results, contextOf, order, durationMs });
  } catch (error) {
    if (error instanceof ErasedError) return untouched(job, client.region, LEFT_ERASED);
    order.signal?.throwIfAborted();
    if (isPaused(error)) throw error;
    const unknown = expectation.items.map((item) => notFetched(item, 'failed', inWords(error)));
    return conclude(unknown, null);
  }
}

async function decide(
  parts: RecoveryParts,
  job: JobRecord,
  expectation: Expectation,
  order: JobOrder,
  now: number,
): Promise<Plan> {
  const present = needsLook({ job, expectation })
    ? await presentKeys(parts.store, expectation.items, order.again)
    : new Set<string>();
  const plan = planJob({ job, expectation, present, now, grace: order.grace });
  if (plan.step !== 'fetch' && plan.step !== 'unrecoverable') return plan;
  return (await isErased(parts.store, job.id)) ? LEFT_ERASED : plan;
}

/**
 * Which of the items lie in the store. It is asked every time: what a process remembers may be gone by now,
 * or put there by another.
 *
 * @param again take none as present that can be fetched and compared
 */
export async function presentKeys(
  store: ObjectStore,
  items: readonly ExpectedItem[],
  again: boolean,
): Promise<ReadonlySet<string>> {
  const present = new Set<string>();
  for (const { key, kind } of items) {
    // The record that stands in for a jobinfo changes with time: comparing it would make false conflicts.
    if (again && kind !== 'jobinfo') continue;
    if ((await store.head(key)) !== null) present.add(key);
  }
  return present;
}

/** What the ledger does not know of did not go well, even when the artefacts are safe. */
async function recorded(ledger: Ledger, record: RecoveryRecord): Promise<RecoveredJob> {
  try {
    await recordRecovery(ledger, record);
    return record.told;
  } catch (error) {
    const reason = joinReasons([record.told.reason, `done, but missing in the ledger: ${inWords(error)}`]);
    return { ...record.told, outcome: 'failed', reason };
  }
}

async function carryOut(
  parts: RecoveryParts,
  client: JobsClient,
  plan: Plan,
  contextOf: (source: string) => ArtefactContext,
  { signal }: JobOrder,
): Promise<ItemResult[]> {
  if (plan.step === 'fetch') return fetchMissing(parts, client, plan.missing, contextOf, signal);
  return plan.missing.map((item) => notFetched(item, 'unrecoverable', null));
}

/** One delivery of its own for each source that the job belongs to. */
function contextsOf(
  job: JobRecord,
  region: string,
  parts: RecoveryParts,
  { origin }: JobOrder,
  now: number,
): (source: string) => ArtefactContext {
  const made = new Map<string, ArtefactContext>();
  return (source) => {
    const context = made.get(source) ?? {
      deliveryId: newDeliveryId(now),
      jobId: job.id,
      // What the callback of a finished job says.
      status: job.status === 'done' ? 'success' : null,
      source,
      region,
      origin,
      receivedAt: new Date(now).toISOString(),
      keyPrefix: parts.sources[source]?.keyPrefix ?? '',
    };
    made.set(source, context);
    return context;
  };
}
