import { Command } from 'commander';
import { rejectUnknownNames } from '../index/questions/filter-names.js';
import { plural } from '../lib/text/plural.js';
import { acknowledgeJob, acknowledgeJobs } from '../operations/actions/acknowledge-job.js';
import { isInLedger } from '../operations/actions/erase/jobs-to-erase.js';
import { CLI_ACTOR } from './shared/cli-actor.js';
import { UsageError } from './shared/exit-codes.js';
import { filterNamesOf } from './shared/filter-names-of.js';
import { printJson, printLines } from './shared/format/print.js';
import { withLedgerWriter } from './shared/on-store/with-ledger-writer.js';
import { checkJobs } from './shared/options/check-jobs.js';

interface Options {
  readonly cause?: string;
  readonly source?: string;
  readonly dryRun?: true;
  readonly reason?: string;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('acknowledge')
    .argument('[job]', 'id of the job')
    .option('--cause <code>', 'all jobs that fail for this cause, as `failures` lists it')
    .option('--source <name>', 'with --cause: only of this source')
    .option('--dry-run', 'with --cause: list the jobs, change nothing')
    .option('--reason <words>', 'reason, for the ledger; needed')
    .option('--json', 'print the line of the ledger, or the jobs, as one JSON document')
    .action(async (jobId: string | undefined, options: Options) => {
      const { cause, dryRun } = options;
      const reason = options.reason?.trim() ?? '';
      if ((jobId === undefined) === (cause === undefined))
        throw new UsageError('name either a job or a cause: --cause <code>');
      if (reason === '' && !dryRun)
        throw new UsageError('--reason is missing: say why the failure is accepted');
      if (jobId !== undefined) await acknowledgeOne(jobId, reason, options);
      else await acknowledgeCause(cause ?? '', reason, options);
    });
}

async function acknowledgeOne(jobId: string, reason: string, { json, dryRun }: Options): Promise<void> {
  checkJobs([jobId]);
  if (dryRun) throw new UsageError('--dry-run goes with --cause');
  const line = await withLedgerWriter(false, async (work) => {
    const { view } = work;
    await view.refresh();
    if (!(await isInLedger({ view }, jobId))) throw new UsageError(`the ledger has no line of ${jobId}`);
    return acknowledgeJob(work.ledger, jobId, { actor: CLI_ACTOR, reason, scope: null });
  });
  if (json) printJson(line);
  else printLines([`${jobId} is acknowledged by ${CLI_ACTOR} at ${line.receivedAt}: ${line.reason}`]);
}

async function acknowledgeCause(
  cause: string,
  reason: string,
  { source, dryRun, json }: Options,
): Promise<void> {
  const { jobs, acknowledged } = await withLedgerWriter(dryRun === true, async (work) => {
    const { view } = work;
    await view.refresh();
    await rejectUnknownNames({ source }, filterNamesOf(work.config), view);
    await view.untilComplete();
    const { jobs: found } = await view.allFailing({ cause, source });
    const acceptance = { actor: CLI_ACTOR, reason, scope: null };
    const done = dryRun ? 0 : await acknowledgeJobs(work.ledger, found, acceptance);
    return { jobs: found, acknowledged: done };
  });
  if (json) return printJson({ count: jobs.length, acknowledged, jobs });
  const many = plural(jobs.length, 'job');
  if (dryRun)
    return printLines([`${many} would be acknowledged`, ...jobs.slice(0, 100).map((id) => `  ${id}`)]);
  printLines([jobs.length === 0 ? 'No job fails for this cause.' : `${many} acknowledged: ${reason}`]);
}
