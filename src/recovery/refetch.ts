import type { JobsClient } from '../speech/batch/jobs-client.js';
import { isPaused } from '../speech/speech-error.js';
import type { JobRecord } from '../speech/wire.js';
import { type Expectation, expectationOf } from './expectation.js';
import { inWords } from './fetch-missing.js';
import { findJob } from './find-job.js';
import { presentKeys, recoverJob } from './recover-job.js';
import type { JobOrder, RecoveryParts } from './recovery-parts.js';
import type { RecoveredJob } from './recovery-report.js';

export interface RefetchOrder {
  readonly jobId: string;
  /** Regions to ask, one after the other; default: all that have an address. */
  readonly regions?: readonly string[] | undefined;
  /** The source it belongs to; needed when its own entries do not say and there are several sources. */
  readonly source?: string | undefined;
  /** Also fetch what is here, and keep what differs as conflict. Default false. */
  readonly again?: boolean;
  readonly dryRun?: boolean;
  /** Default `recovery`. */
  readonly origin?: JobOrder['origin'];
  /** Name of the admin token behind it. */
  readonly actor?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Fetches what is missing of one job that an operator named, whatever its age. Rejects with `SpeechError`
 * of kind `configuration` when the region is unusable or no key is there, or as `signal` says before anything
 * was stored; all else becomes an outcome.
 */
export async function refetch(parts: RecoveryParts, order: RefetchOrder): Promise<RecoveredJob> {
  const clients = clientsOf(parts, order.regions);
  const { found, faults } = await findJob(clients, order.jobId, order.signal);
  if (found === null) {
    const trouble = faults.map(({ reason }) => reason).join('; ');
    return trouble === '' ? unknownJob(parts, order) : failed(order, null, trouble);
  }
  try {
    const result = await recoverJob(parts, found.client, found.job, jobOrderOf(order));
    return result ?? failed(order, found.client.region, NAME_THE_SOURCE);
  } catch (error) {
    if (!isPaused(error)) throw error;
    return failed(order, found.client.region, inWords(error));
  }
}

function jobOrderOf(order: RefetchOrder): JobOrder {
  return {
    source: order.source ?? null,
    insist: true,
    grace: 0,
    again: order.again ?? false,
    dryRun: order.dryRun ?? false,
    origin: order.origin ?? 'recovery',
    actor: order.actor ?? null,
    signal: order.signal,
    alreadyRecorded: () => false,
  };
}

/** The clients of some regions, each once, or of all that have an address. Throws `SpeechError` (`configuration`). */
export function clientsOf(parts: RecoveryParts, regions?: readonly string[]): JobsClient[] {
  return [...new Set(regions ?? parts.speech.regions)].map((region) => parts.speech.jobs(region));
}

const NAME_THE_SOURCE =
  'none of its notification entries leads here, so it has to be said which source it belongs to';

function failed({ jobId }: RefetchOrder, region: string | null, reason: string): RecoveredJob {
  return { jobId, region, outcome: 'failed', reason, items: [] };
}

/** Nobody knows it any more: what its source asks for may still lie here, whole. */
async function unknownJob(parts: RecoveryParts, order: RefetchOrder): Promise<RecoveredJob> {
  const reason = 'no configured region knows this job';
  const told = { jobId: order.jobId, region: null, reason, items: [] };
  const expectation = expectationOf(forgottenJob(order.jobId), {
    ...parts,
    source: order.source ?? null,
    insist: true,
  });
  try {
    const missing = expectation === null ? null : await missingOf(parts, expectation);
    if (missing?.length === 0) return { ...told, outcome: 'matched' };
    const items = (missing ?? []).map(({ kind, key }) => ({ kind, key, outcome: 'unrecoverable' as const }));
    return { ...told, outcome: 'unrecoverable', items };
  } catch (error) {
    return { ...told, outcome: 'failed', reason: `${reason}; ${inWords(error)}` };
  }
}

async function missingOf({ store }: RecoveryParts, { items }: Expectation): Promise<Expectation['items']> {
  const present = await presentKeys(store, items, false);
  return items.filter(({ key }) => !present.has(key));
}

function forgottenJob(id: string): JobRecord {
  return { id, status: 'deleted', created_at: '', data_name: '', config: { type: 'unknown' } };
}
