import { isErased } from '../../../archive/erasure/erasure.js';
import { Problem } from '../../../domain/problem.js';
import type { SourceScope } from '../../../domain/rights.js';
import type { AuditInfo } from '../../../ledger/ledger-line.js';
import type { JobsClient } from '../../../speech/batch/jobs-client.js';
import { SpeechError } from '../../../speech/speech-error.js';
import type { JobRecord } from '../../../speech/wire.js';
import { expectationOf } from '../expectation.js';
import { keysOf, presentItems, reconcileJob } from '../reconcile-job.js';
import { ErasedError, failureReason, isUnknownJob, SOURCE_REQUIRED } from '../recovery-errors.js';
import type { ConcurrencyLimit, JobOptions, RecoveryParts } from '../recovery-parts.js';
import { resultWithoutItems } from '../report/job-result.js';
import type { RecoveredJob, RunFault } from '../report/recovery-report.js';
import { recordMatch } from './record-match.js';

interface RefetchOptions {
  readonly jobId: string;
  /** Region to ask; default: all that have an address, one after the other. */
  readonly region?: string | undefined;
  /** The source of the job; needed when no entry of the job leads here and there are several sources. */
  readonly source?: string | undefined;
  /** Also fetch artefacts that are stored, and keep different ones as conflicts. Default false. */
  readonly again?: boolean;
  readonly dryRun?: boolean;
  /** Default `operator`: the job is fetched even if none of its entries leads here. */
  readonly selectedBy?: JobOptions['selectedBy'];
  /** Default `recovery`. */
  readonly origin?: JobOptions['origin'];
  /** Name of the admin token behind it. */
  readonly actor?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fetches the missing artefacts of one job that an operator named, whatever its age. If the job is complete then, its failures and its
 * quarantined bodies are settled. Rejects with `SpeechError` of kind `configuration` when the region is unusable or there is no key, or
 * with the signal's reason before anything was stored; every other failure becomes the result.
 */
export async function refetch(parts: RecoveryParts, options: RefetchOptions): Promise<RecoveredJob> {
  const checkedAt = parts.clock();
  const { actor = null, source, origin = 'recovery' } = options;
  const fetched = await missedUnlessErased(parts, await fetchJob(parts, options), options);
  if (options.dryRun === true) return fetched;
  const match = { origin, actor, source: source ?? null, checkedAt };
  return needsMatch(fetched) ? recordMatch(parts, fetched, match) : fetched;
}

/** A job that was recovered, recorded or compared already has a line. */
function needsMatch({ outcome, recorded, items }: RecoveredJob): boolean {
  return outcome === 'matched' && !recorded && items.every((item) => item.outcome !== 'identical');
}

/**
 * The result, `matched` if the job was erased: a failure would be listed permanently. A client that may see only jobs whose entries lead
 * to its sources does not learn that a job was erased.
 */
async function missedUnlessErased(
  { store }: RecoveryParts,
  job: RecoveredJob,
  { selectedBy = 'operator' }: RefetchOptions,
): Promise<RecoveredJob> {
  if (selectedBy === 'list' || (job.outcome !== 'failed' && job.outcome !== 'unrecoverable')) return job;
  const erased = await isErased(store, job.jobId).catch(() => false);
  return erased ? { ...job, outcome: 'matched', reason: new ErasedError().message, items: [] } : job;
}

async function fetchJob(parts: RecoveryParts, options: RefetchOptions): Promise<RecoveredJob> {
  const clients = clientsOf(parts, options.region);
  const failed = (region: string | null, reason: string) =>
    resultWithoutItems(options.jobId, region, 'failed', reason);
  const { found, faults } = await findJob(clients, options.jobId, options.signal);
  if (found === null) {
    const failures = faults.map(({ reason }) => reason).join('; ');
    return failures === '' ? unknownJob(parts, options) : failed(null, failures);
  }
  const { region } = found.client;
  try {
    const result = await reconcileJob(parts, found.client, found.job, jobOptionsOf(options));
    return result ?? failed(region, SOURCE_REQUIRED);
  } catch (error) {
    options.signal?.throwIfAborted();
    return failed(region, failureReason(error));
  }
}

/** The region that knows a job; `faults` are regions that could not be asked. */
interface JobSearch {
  readonly found: { readonly client: JobsClient; readonly job: JobRecord } | null;
  readonly faults: readonly RunFault[];
}

/** The client of a region, or of all that have an address. Throws `SpeechError` (`configuration`). */
function clientsOf({ speech }: RecoveryParts, region?: string): JobsClient[] {
  return (region === undefined ? speech.regions : [region]).map((name) => speech.jobs(name));
}

/** Asks the regions one after the other: a job is known only in the one that made it. */
async function findJob(
  clients: readonly JobsClient[],
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<JobSearch> {
  const faults: RunFault[] = [];
  for (const client of clients) {
    try {
      return { found: { client, job: await client.record(jobId, signal) }, faults };
    } catch (error) {
      signal?.throwIfAborted();
      if (!isUnknownJob(error)) faults.push({ region: client.region, reason: failureReason(error) });
    }
  }
  return { found: null, faults };
}

function jobOptionsOf(options: RefetchOptions): JobOptions {
  return {
    source: options.source ?? null,
    selectedBy: options.selectedBy ?? 'operator',
    grace: 0,
    again: options.again ?? false,
    dryRun: options.dryRun ?? false,
    origin: options.origin ?? 'recovery',
    actor: options.actor ?? null,
    signal: options.signal,
    lookupLimit: unlimited,
    fetchLimit: unlimited,
    openBefore: new Map(),
  };
}

const unlimited: ConcurrencyLimit = (work) => work();

export const UNKNOWN_JOB = 'no configured region knows this job';

/** The result of a job that no region knows. The artefacts expected by its source may nevertheless all be stored. */
async function unknownJob(
  parts: RecoveryParts,
  { jobId, source, selectedBy = 'operator' }: RefetchOptions,
): Promise<RecoveredJob> {
  const { store, sources, publicUrl } = parts;
  const result = resultWithoutItems(jobId, null, 'unrecoverable', UNKNOWN_JOB);
  const scope = { sources, publicUrl, source: source ?? null, selectedBy } as const;
  const expectation = expectationOf(recordWithoutEntries(jobId), scope);
  if (expectation === null) return result;
  try {
    const present = keysOf(
      await presentItems(store, expectation.items, { again: false, lookupLimit: unlimited }),
    );
    const items = expectation.items
      .filter(({ key }) => !present.has(key))
      .map(({ kind, key }) => ({ kind, key, outcome: 'unrecoverable' as const }));
    return items.length === 0 ? { ...result, outcome: 'matched' } : { ...result, items };
  } catch (error) {
    return { ...result, outcome: 'failed', reason: `${UNKNOWN_JOB}; ${failureReason(error)}` };
  }
}

function recordWithoutEntries(id: string): JobRecord {
  return { id, status: 'deleted', created_at: '', data_name: '', config: { type: 'unknown' } };
}

interface RefetchJobOptions extends AuditInfo {
  readonly region?: string | undefined;
  readonly source?: string | undefined;
  /** Sources that the client may see. Default: all. */
  readonly scope?: SourceScope | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Refetches a job as an operator's act. Rejects with `conflict` when the service's API is not configured.
 *
 * All sources may share one account of the service. A client that may see only some sources gets a job only when the job's own
 * notification entries lead to one of them: naming a source proves nothing. Any other job is answered like an unknown one.
 */
export async function refetchJob(
  recovery: RecoveryParts,
  jobId: string,
  { actor, region, source, scope = null, signal }: RefetchJobOptions,
): Promise<RecoveredJob> {
  requireService(recovery, region);
  const options = { jobId, region, actor, signal, origin: 'replay' } as const;
  if (scope === null) return refetch(recovery, { ...options, source });
  const names = source === undefined ? [...scope] : [source].filter((name) => scope.has(name));
  const sources = Object.fromEntries(
    names.flatMap((name) => {
      const settings = recovery.sources[name];
      return settings === undefined ? [] : [[name, settings] as const];
    }),
  );
  const result = await refetch({ ...recovery, sources }, { ...options, selectedBy: 'list' });
  if (result.reason !== SOURCE_REQUIRED) return result;
  return resultWithoutItems(jobId, null, 'unrecoverable', UNKNOWN_JOB);
}

/** Throws `Problem` `conflict` when this region, by default all, cannot be asked. */
export function requireService(recovery: RecoveryParts, region?: string): void {
  if (recovery.speech.regions.length === 0) {
    throw new Problem('conflict', 'No region can be asked: set speech.regions.<region>.batchUrl.');
  }
  try {
    clientsOf(recovery, region);
  } catch (error) {
    if (!(error instanceof SpeechError) || error.kind !== 'configuration') throw error;
    throw new Problem('conflict', `${error.message}.`, { cause: error });
  }
}
