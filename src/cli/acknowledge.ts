import { Command } from 'commander';
import type { LedgerLine } from '../domain/delivery.js';
import { acknowledgeJob } from '../repair/acknowledge-job.js';
import { isInLedger } from '../repair/jobs-to-erase.js';
import { UsageError } from './shared/exit-codes.js';
import { CLI_ACTOR, openRepairs } from './shared/open-repairs.js';
import { printJson, printLines } from './shared/print.js';
import { checkJobs, withRecovery } from './shared/with-recovery.js';

interface Options {
  readonly reason: string;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('acknowledge')
    .description('accept a conflict or a loss: the job is no longer listed as failing until it fails again')
    .argument('<job>', 'id of the job')
    .requiredOption('--reason <words>', 'reason, for the ledger')
    .option('--json', 'print the line of the ledger as one JSON document')
    .action(async (jobId: string, { reason, json }: Options) => {
      checkJobs([jobId]);
      if (reason.trim() === '') throw new UsageError('--reason is empty: say why the failure is accepted');
      const line = await acknowledge(jobId, reason.trim());
      if (json) printJson(line);
      else printLines([`${jobId} is acknowledged by ${CLI_ACTOR} at ${line.receivedAt}: ${line.reason}`]);
    });
}

function acknowledge(jobId: string, reason: string): Promise<LedgerLine> {
  return withRecovery(false, async (work) => {
    const { view } = openRepairs(work);
    await view.refresh();
    if (!(await isInLedger({ view }, jobId))) throw new UsageError(`the ledger has no line of ${jobId}`);
    return acknowledgeJob(work.parts, jobId, { actor: CLI_ACTOR, reason, scope: null });
  });
}
