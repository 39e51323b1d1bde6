import { Command } from 'commander';
import type { LedgerLine } from '../domain/delivery.js';
import { chooseArtefact } from '../operations/actions/choose-artefact.js';
import { CLI_ACTOR } from './shared/cli-actor.js';
import { UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { withLedgerWriter } from './shared/on-store/with-ledger-writer.js';
import { checkJobs } from './shared/options/check-jobs.js';

interface Options {
  readonly reason: string;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('choose')
    .argument('<job>', 'id of the job')
    .argument('<keys...>', 'whole keys of the version, as `job` shows them')
    .requiredOption('--reason <words>', 'reason, for the ledger')
    .option('--json', 'print the lines of the ledger as one JSON document')
    .action(async (jobId: string, keys: readonly string[], { reason, json }: Options) => {
      checkJobs([jobId]);
      if (reason.trim() === '') throw new UsageError('--reason is empty: say why this version is right');
      const chosen = await choose(jobId, keys, reason.trim());
      if (json) printJson({ chosen });
      else printLines(chosen.flatMap(formatChoice));
    });
}

/** Chooses one after the other. Run again after a failure, the command continues. */
function choose(jobId: string, keys: readonly string[], reason: string): Promise<LedgerLine[]> {
  return withLedgerWriter(false, async ({ config, ...work }) => {
    const { keyPrefixes } = config;
    const sources = new Map(Object.entries(config.sources));
    const parts = { ...work, sources, keyPrefixes, fresh: work.view.refresh };
    const chosen: LedgerLine[] = [];
    for (const key of keys) {
      const choice = { key, actor: CLI_ACTOR, reason, scope: null };
      chosen.push(await chooseArtefact(parts, jobId, choice));
    }
    return chosen;
  });
}

function formatChoice({ jobId, actor, reason, items }: LedgerLine): string[] {
  const [counting, kept] = items;
  return [
    `${jobId}: ${actor} chose ${counting?.sha256.slice(0, 12)} as ${counting?.key}: ${reason}`,
    ...(kept === undefined ? [] : [`  the version before is ${kept.key}`]),
  ];
}
