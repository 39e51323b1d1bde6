import { Command } from 'commander';
import { createQuarantineStore, type QuarantineStore } from '../archive/quarantine/quarantine-store.js';
import { loadConfig } from '../config/config.js';
import { isJobId } from '../domain/job.js';
import { type JobState, jobState, type NoRecord, unknownJobState } from '../domain/job-state.js';
import type { LedgerView } from '../index/ledger-view.js';
import { findJobs } from '../operations/admin/jobs/find-jobs.js';
import { recordsOf } from '../operations/admin/jobs/find-service-record.js';
import { type InspectParts, inspectJob } from '../operations/admin/jobs/inspect-job.js';
import { listQuarantine } from '../operations/admin/jobs/list-quarantine.js';
import { createJobEvents } from '../operations/admin/subscribers/job-events.js';
import type { Job, JobMatches } from '../operations/answers/jobs.js';
import type { ListedBody } from '../operations/answers/quarantine.js';
import { createOutboxReader } from '../subscribers/outbox-reader.js';
import { formatJobMatches, formatJobPage } from './reports/format-job-page.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { filterNamesOf } from './shared/filter-names-of.js';
import { printJson, printLines } from './shared/format/print.js';
import { type RecoveryWork, withRecovery } from './shared/with-recovery.js';

interface Answer {
  readonly jobId: string;
  /** Null for a job that is unknown. */
  readonly job: Job | null;
  /** Answer of the service for an unknown job. */
  readonly serviceAnswer: NoRecord;
  readonly bodies: readonly ListedBody[];
  /** Jobs that match the text, when no job has this id. */
  readonly found: JobMatches | null;
}

export function createCommand(): Command {
  return new Command('job')
    .argument('<job>', 'its id, a value of its context, or a part of either')
    .option('--json', 'print one JSON document')
    .action(async (given: string, { json }: { readonly json?: true }) => {
      const text = given.trim();
      if (text === '')
        throw new UsageError('<job> is empty: name an id, a value of a context, or a part of either');
      const { location, ...answer } = await withRecovery(loadConfig('service'), { dryRun: true }, (work) =>
        answerOf(work, text),
      );
      const { jobId, job, bodies, found } = answer;
      const state = stateOf(answer);
      if (json) printJson({ ...(job ?? { jobId }), quarantine: bodies, found, state });
      else if (found !== null && found.jobs.length > 0) printLines(formatJobMatches(text, found));
      else printLines(formatJobPage(jobId, job, state, location));
      process.exitCode = exitCodeOf(job, state);
    });
}

async function answerOf(work: RecoveryWork, text: string): Promise<Answer & { readonly location: string }> {
  const { location } = work.parts.store;
  const { signal, progress } = work;
  progress.show('reading the ledger');
  const parts = partsOf(work);
  const answer = isJobId(text) ? await inspect(parts, text, signal) : null;
  if (answer?.job) return { ...answer, location };
  progress.show('searching for jobs that fit');
  await parts.fresh();
  const found = await findJobs({ ...parts, names: filterNamesOf(work.config) }, text, null);
  const [only, another] = found.jobs;
  if (only !== undefined && another === undefined)
    return { ...(await inspect(parts, only.jobId, signal)), location };
  const serviceAnswer = answer?.serviceAnswer ?? 'not-asked';
  return { jobId: text, job: null, serviceAnswer, bodies: [], found, location };
}

type InspectJobParts = Omit<InspectParts, 'view'> & {
  readonly view: LedgerView;
  readonly quarantine: QuarantineStore;
};

/** Milliseconds to wait for the service; longer than the page, which asks again. */
const RECORD_WITHIN = 30_000;

function partsOf({ config, parts, view }: RecoveryWork): InspectJobParts {
  const { store, retained, retention } = parts;
  return {
    store,
    view,
    retained,
    retention,
    quarantine: createQuarantineStore(store),
    jobEvents: createJobEvents(store, view, createOutboxReader(store, config.subscribers)),
    keyPrefixes: config.keyPrefixes,
    fresh: view.refresh,
    records: recordsOf(parts, RECORD_WITHIN),
    clock: Date.now,
  };
}

async function inspect(parts: InspectJobParts, jobId: string, signal: AbortSignal): Promise<Answer> {
  const found = await inspectJob(parts, jobId);
  const query = { job: jobId, state: 'all', limit: 100, signal } as const;
  const { quarantine: bodies } = await listQuarantine(parts, query);
  const known = typeof found === 'string' ? null : found;
  const serviceAnswer = typeof found === 'string' ? found : 'not-asked';
  return { jobId, job: known, serviceAnswer, bodies, found: null };
}

function stateOf({ jobId, job, bodies, serviceAnswer }: Answer): JobState {
  if (job === null) return unknownJobState(jobId, serviceAnswer);
  return jobState(job, bodies, (instant) => instant);
}

function exitCodeOf(job: Job | null, { tone, steps }: JobState): number {
  const isHere =
    job !== null && (job.artefacts.length > 0 || job.timeline.length > 0 || job.erasure !== null);
  if (tone === 'bad' || tone === 'notice') return EXIT.usage;
  if (!isHere) return EXIT.failed;
  return steps.length > 0 ? EXIT.usage : EXIT.ok;
}
