import { retentionViewOf } from '../../app/retention-view-of.js';
import { canAskService } from '../../app/speech-options.js';
import { createQuarantineStore } from '../../archive/quarantine/quarantine-store.js';
import { type JobState, jobState, unknownJobState } from '../../domain/job-state.js';
import { otherPrefixesOf } from '../../operations/actions/other-prefixes.js';
import { inspectJob } from '../../operations/admin/jobs/inspect-job.js';
import { listQuarantine } from '../../operations/admin/jobs/list-quarantine.js';
import { formatJobPage } from '../reports/format-job-page.js';
import type { LedgerWork } from '../shared/on-store/with-ledger.js';

/** What the index says of a job whose transcript is not below the prefixes of the configured sources. */
interface Absence {
  /** Further prefixes, below which it may be. */
  readonly otherPrefixes: readonly string[];
  /** What became of the job, in the words of its page. The service is not asked. */
  readonly explanation: readonly string[];
}

export async function explainAbsence(work: LedgerWork, jobId: string): Promise<Absence> {
  const { keyPrefixes } = work.config;
  const page = formatJobPage(jobId, null, await stateOf(work, jobId), work.store.location);
  return {
    otherPrefixes: await otherPrefixesOf({ keyPrefixes, view: work.view }, jobId, null),
    explanation: [...page, `See also: transcript-receiver job ${jobId}`],
  };
}

async function stateOf({ config, store, view, signal }: LedgerWork, jobId: string): Promise<JobState> {
  const quarantine = createQuarantineStore(store);
  const retained = retentionViewOf(config, store);
  const { retention } = config.speech;
  const serviceAnswer = canAskService(config) ? 'not-asked' : 'not-configured';
  const job = await inspectJob(
    {
      ...{ store, view, retention, quarantine, clock: Date.now, fresh: view.refresh },
      jobEvents: async () => [],
      keyPrefixes: config.keyPrefixes,
      records: { regions: [], within: 0, record: () => Promise.reject(new Error('no region is asked')) },
      retained,
    },
    jobId,
  );
  if (typeof job === 'string') return unknownJobState(jobId, serviceAnswer);
  const { quarantine: bodies } = await listQuarantine(
    { view, quarantine, retained },
    { job: jobId, state: 'all', limit: 100, signal },
  );
  return jobState({ ...job, serviceAnswer }, bodies, (instant) => instant);
}
