import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { isJobId } from '../domain/job.js';
import { type Erasure, eraseJob, keptText, summaryOf } from '../repair/erase-job.js';
import { EXIT, UsageError } from './shared/exit-codes.js';
import { CLI_ACTOR } from './shared/open-repairs.js';
import { printJson, printLines } from './shared/print.js';
import { withRecovery } from './shared/with-recovery.js';

interface Options {
  readonly yes?: true;
  readonly reason?: string;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('erase')
    .description(
      'erase everything that is stored of a job, old versions included; the ledger records the erasure',
    )
    .argument('<job>', 'id of the job')
    .option('--reason <words>', 'reason, for the ledger')
    .option('--yes', 'do not ask for confirmation at a terminal')
    .option('--json', 'print what was erased as one JSON document')
    .action(async (jobId: string, options: Options) => {
      if (!isJobId(jobId)) throw new UsageError('this is no job id: letters, digits, - and _, at most 64');
      if (!options.yes && !(await isConfirmed(jobId))) throw new UsageError('nothing was erased');
      const erasure = await erase(jobId, options.reason ?? null);
      if (options.json) printJson(erasure);
      else printLines(formatErasure(erasure));
      if (!erasure.complete) process.exitCode = EXIT.incomplete;
    });
}

/** Asks a person for confirmation, because erasing cannot be undone; scripts are not asked. */
async function isConfirmed(jobId: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return true;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const said = await terminal.question(`Erase all stored data of ${jobId} permanently? [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(said.trim());
}

function erase(jobId: string, reason: string | null): Promise<Erasure> {
  return withRecovery(false, ({ config, parts }) => {
    const keyPrefixes = Object.values(config.sources).map(({ keyPrefix }) => keyPrefix);
    return eraseJob({ ...parts, keyPrefixes }, jobId, { actor: CLI_ACTOR, reason });
  });
}

function formatErasure({ jobId, erased, kept }: Erasure): string[] {
  const { bytes, ...counts } = erased;
  const lines = [`Erased ${jobId}: ${summaryOf(counts)}, ${bytes} bytes`];
  return kept === null ? lines : [...lines, `${keptText(kept)}. Erase it again then.`];
}
