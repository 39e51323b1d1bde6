import { Command } from 'commander';
import type { LedgerLine } from '../domain/delivery.js';
import { Problem } from '../domain/problem.js';
import { chooseArtefact } from '../operator/choose-artefact.js';
import { UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { CLI_ACTOR } from './shared/open-repairs.js';
import { checkJobs, withRecovery } from './shared/with-recovery.js';

interface Options {
  readonly reason: string;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('choose')
    .description('choose which version of an artefact counts; the others stay among the conflicts')
    .argument('<job>', 'id of the job')
    .argument('<key>', 'key of the version, as `job` shows it')
    .requiredOption('--reason <words>', 'reason, for the ledger')
    .option('--json', 'print the line of the ledger as one JSON document')
    .action(async (jobId: string, key: string, { reason, json }: Options) => {
      checkJobs([jobId]);
      if (reason.trim() === '') throw new UsageError('--reason is empty: say why this version is right');
      const line = await choose(jobId, key, reason.trim());
      if (json) printJson(line);
      else printLines(formatChoice(line));
    });
}

function choose(jobId: string, key: string, reason: string): Promise<LedgerLine> {
  return withRecovery(false, async ({ config, parts }) => {
    const sources = new Map(Object.entries(config.sources));
    const keyPrefixes = Object.values(config.sources).map(({ keyPrefix }) => keyPrefix);
    const choice = { key, actor: CLI_ACTOR, reason, scope: null };
    return chooseArtefact({ ...parts, sources, keyPrefixes }, jobId, choice).catch((error: unknown) => {
      throw error instanceof Problem && error.status < 500 ? new UsageError(error.message) : error;
    });
  });
}

function formatChoice({ jobId, actor, reason, items }: LedgerLine): string[] {
  const [counting, kept] = items;
  return [
    `${jobId}: ${actor} chose ${counting?.sha256.slice(0, 12)} as ${counting?.key}: ${reason}`,
    ...(kept === undefined ? [] : [`  the version before is ${kept.key}`]),
  ];
}
