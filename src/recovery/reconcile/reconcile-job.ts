import { isStandIn, retentionClassOf } from '../../domain/kinds.js';
import type { JobsClient } from '../../speech/batch/jobs-client.js';
import { isPaused } from '../../speech/speech-error.js';
import type { JobRecord } from '../../speech/wire.js';
import type { ObjectStore } from '../../store/object-store.js';
import { recordEnded } from './ended-job.js';
import { type Expectation, type ExpectedItem, expectationOf } from './expectation.js';
import { fetchMissing, type ItemResult, notFetched } from './fetch/fetch-missing.js';
import {
  createContexts,
  mayBeUnrecorded,
  type PresentItem,
  recordRecovery,
  recordUnrecorded,
} from './fetch/record-recovery.js';
import { isEnded, isGone, joinReasons, type Plan, planJob, requiresArchive } from './plan-job.js';
import { ErasedError, failureReason } from './recovery-errors.js';
import type { JobOptions, RecoveryParts } from './recovery-parts.js';
import { jobResult, resultWithoutItems, unchangedResult, withRetentionEnd } from './report/job-result.js';
import type { RecoveredJob } from './report/recovery-report.js';
import { SERVICE_CLOCK_TOLERANCE, wasErased } from './was-erased.js';

/**
 * Reconciles one job: compares the expected artefacts with the stored ones, fetches and records those that are missing. Null when the
 * job belongs to no source here. Before anything was stored it rejects with the signal's reason, or with `paused` when the region must
 * not be asked now; every other failure becomes the result.
 */
export async function reconcileJob(
  parts: RecoveryParts,
  client: JobsClient,
  job: JobRecord,
  options: JobOptions,
): Promise<RecoveredJob | null> {
  const result = await resultOf(parts, client, job, options);
  return result && withRetentionEnd(result, job, parts.retention, parts.clock());
}

async function resultOf(
  parts: RecoveryParts,
  client: JobsClient,
  job: JobRecord,
  options: JobOptions,
): Promise<RecoveredJob | null> {
  const { region } = client;
  const { sources, publicUrl } = parts;
  const { source, selectedBy, signal } = options;
  const expectation = expectationOf(job, { sources, publicUrl, source, selectedBy });
  if (expectation === null) return null;
  try {
    if (isEnded(job, expectation)) return await recordEnded(parts, client, job, expectation, options);
    const { plan, present } = await planFor(parts, job, expectation, options);
    const unrecorded = present.filter((each) => mayBeUnrecorded(each, job));
    if (unrecorded.length > 0 && !options.dryRun)
      await options.fetchLimit(() => recordPresent(parts, job, region, unrecorded, options));
    if (plan.step !== 'fetch' && plan.step !== 'unrecoverable') return unchangedResult(job, region, plan);
    return await options.fetchLimit(() => fetchJob(parts, client, job, plan, options));
  } catch (error) {
    if (error instanceof ErasedError) return resultWithoutItems(job.id, region, 'matched', error.message);
    signal?.throwIfAborted();
    if (isPaused(error)) throw error;
    if (isEnded(job, expectation)) return resultWithoutItems(job.id, region, 'failed', failureReason(error));
    const failed = expectation.items.map((item) => notFetched(item, 'failed', failureReason(error)));
    return jobResult(job, region, failed, null);
  }
}

async function planFor(
  parts: RecoveryParts,
  job: JobRecord,
  expectation: Expectation,
  options: JobOptions,
): Promise<{ readonly plan: Plan; readonly present: readonly PresentItem[] }> {
  const { grace, lookupLimit } = options;
  const again = options.again && !isGone(job);
  const now = parts.clock();
  const found = requiresArchive(job, expectation)
    ? await presentItems(parts.store, expectation.items, { again, lookupLimit })
    : [];
  const present = keysOf(found);
  const expired = await endedKeys(parts, job, expectation, present, options);
  return { plan: planJob({ job, expectation, present, expired, now, grace }), present: found };
}

function recordPresent(
  parts: RecoveryParts,
  job: JobRecord,
  region: string,
  present: readonly PresentItem[],
  options: JobOptions,
): Promise<void> {
  const startedAt = parts.clock();
  const contextOf = createContexts(parts, job, region, options.origin, startedAt);
  return recordUnrecorded(parts, { present, job, contextOf, options, startedAt });
}

const NONE: ReadonlySet<string> = new Set();

export function keysOf(found: readonly PresentItem[]): ReadonlySet<string> {
  return new Set(found.map(({ item }) => item.key));
}

/** The items that the store has. With `again`, items that can be fetched and compared are left out. */
export async function presentItems(
  store: ObjectStore,
  items: readonly ExpectedItem[],
  { again, lookupLimit }: Pick<JobOptions, 'again' | 'lookupLimit'>,
): Promise<PresentItem[]> {
  // The record that replaces a jobinfo changes with time: comparing it would make false conflicts.
  const asked = items.filter(({ kind }) => !again || isStandIn(kind));
  const found = await Promise.allSettled(
    asked.map(async (item) => ({ item, info: await lookupLimit(() => store.head(item.key)) })),
  );
  return found.flatMap((head) => {
    if (head.status === 'rejected') throw head.reason;
    const { item, info } = head.value;
    return info === null ? [] : [{ item, info }];
  });
}

/**
 * Keys of items that are absent because they expired. An item cannot have been received before its job was created, so the creation time
 * decides. Never while the service still has the job. Never for a job that earlier runs left open: its items were lost before.
 */
async function endedKeys(
  { retained, retention, window, clock }: RecoveryParts,
  { id, created_at }: JobRecord,
  { items }: Expectation,
  present: ReadonlySet<string>,
  { again, openBefore }: JobOptions,
): Promise<ReadonlySet<string>> {
  // An operator asked for the job again: it is fetched even if it has expired here.
  if (again || items.every(({ key }) => present.has(key))) return NONE;
  if (openBefore.has(id)) return NONE;
  const created = Date.parse(created_at);
  if (created >= clock() - Math.max(retention, window)) return NONE;
  const expiredBefore = await retained.expiredBefore();
  const expired = items.filter(
    ({ kind }) => created < expiredBefore(retentionClassOf(kind)) + SERVICE_CLOCK_TOLERANCE,
  );
  return new Set(expired.map(({ key }) => key));
}

async function fetchJob(
  parts: RecoveryParts,
  client: JobsClient,
  job: JobRecord,
  plan: Plan,
  options: JobOptions,
): Promise<RecoveredJob> {
  const { region } = client;
  const { signal } = options;
  signal?.throwIfAborted();
  if (await wasErased(parts, job)) throw new ErasedError();
  const stored = options.again
    ? keysOf(await presentItems(parts.store, plan.missing, { ...options, again: false }))
    : NONE;
  if (options.dryRun) return unchangedResult(job, region, plan, stored);
  const now = parts.clock();
  const contextOf = createContexts(parts, job, region, options.origin, now);
  const fetched =
    plan.step === 'fetch'
      ? await fetchMissing(parts, client, plan.missing, contextOf, signal)
      : plan.missing.map((item) => notFetched(item, 'unrecoverable', null));
  // An item that the service no longer has is not lost while it is stored.
  const isLeft = ({ item, outcome }: ItemResult) => outcome === 'unrecoverable' && stored.has(item.key);
  const left = fetched.filter(isLeft).map(({ item }) => item.kind);
  const note =
    left.length > 0 ? `not compared, because the service no longer has it: ${left.join(', ')}` : null;
  const results = fetched.filter((each) => !isLeft(each));
  const result = jobResult(job, region, results, joinReasons([plan.reason, note]));
  return recordRecovery(parts, { result, results, job, contextOf, options, startedAt: now });
}
