import { Command } from 'commander';
import type { Job } from '../admin/api/answers/jobs.js';
import type { ListedBody } from '../admin/api/answers/quarantine.js';
import { inspectJob } from '../admin/jobs/inspect-job.js';
import { createJobHistory } from '../admin/jobs/job-history.js';
import { listQuarantine } from '../admin/jobs/list-quarantine.js';
import { type JobState, jobState, unknownJobState } from '../domain/job-state.js';
import { EXIT } from './shared/exit-codes.js';
import { formatJobPage } from './shared/format-job-page.js';
import { openRepairs } from './shared/open-repairs.js';
import { printJson, printLines } from './shared/print.js';
import { createProgress } from './shared/progress.js';
import { checkJobs, type RecoveryWork, withRecovery } from './shared/with-recovery.js';

/** Milliseconds for which the ledger is searched for a job of which nothing is known. */
const PATIENCE = 60_000;

export function createCommand(): Command {
  return new Command('job')
    .description(
      'show what is known of a job, where its transcript is, what the service says, and what to do',
    )
    .argument('<job>', 'id of the job')
    .option('--json', 'print one JSON document')
    .addHelpText(
      'after',
      '\nExit code 0 when nothing has to be done, 1 when nothing is stored or known of the job, 2 when it needs somebody.',
    )
    .action(async (jobId: string, { json }: { readonly json?: true }) => {
      checkJobs([jobId]);
      const { job, bodies, location } = await withRecovery(true, (work) => look(work, jobId));
      const state = stateOf(jobId, job, bodies);
      if (json) printJson({ ...(job ?? { jobId }), quarantine: bodies, state });
      else printLines(formatJobPage(jobId, job, state, location));
      process.exitCode = exitCodeOf(job, state);
    });
}

async function look(work: RecoveryWork, jobId: string) {
  const { config, parts } = work;
  const { store, speech, retained } = parts;
  const { view, quarantine } = openRepairs(work);
  const progress = createProgress();
  progress.show('reading the ledger');
  const known = {
    ...{ store, view, quarantine, retained },
    keyPrefixes: Object.values(config.sources).map(({ keyPrefix }) => keyPrefix),
    history: createJobHistory(view),
    fresh: view.refresh,
    records: {
      regions: speech.regions,
      record: (region: string, id: string, signal: AbortSignal) => speech.jobs(region).record(id, signal),
    },
    clock: Date.now,
  };
  const until = Date.now() + PATIENCE;
  try {
    let job = await inspectJob(known, jobId);
    while (job !== null && isNothingFoundYet(job) && Date.now() < until && !work.signal.aborted) {
      progress.show(`searching the ledger before ${job.searchedBackTo}`);
      job = await inspectJob(known, jobId);
    }
    const { quarantine: bodies } = await listQuarantine(quarantine, { job: jobId, state: 'all', limit: 100 });
    return { job, bodies, location: store.location };
  } finally {
    progress.end();
  }
}

/** Each look searches some seconds further back. */
function isNothingFoundYet({ artefacts, timeline, erasure, searchedBackTo }: Job): boolean {
  return searchedBackTo !== null && artefacts.length === 0 && timeline.length === 0 && erasure === null;
}

function stateOf(jobId: string, job: Job | null, bodies: readonly ListedBody[]): JobState {
  if (job === null) return unknownJobState(jobId);
  return jobState(job, bodies, (instant) => instant);
}

function exitCodeOf(job: Job | null, { tone, steps }: JobState): number {
  const isHere =
    job !== null && (job.artefacts.length > 0 || job.timeline.length > 0 || job.erasure !== null);
  if (tone === 'bad' || tone === 'notice') return EXIT.usage;
  if (!isHere) return EXIT.failed;
  return steps.length > 0 ? EXIT.usage : EXIT.ok;
}
