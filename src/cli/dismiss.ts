import { Command } from 'commander';
import { createQuarantineStore } from '../archive/quarantine/quarantine-store.js';
import type { Settlement } from '../domain/quarantined-body.js';
import { dismissBody } from '../operations/actions/dismiss-body.js';
import { CLI_ACTOR } from './shared/cli-actor.js';
import { UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';
import { withLedgerWriter } from './shared/on-store/with-ledger-writer.js';

interface Options {
  readonly reason: string;
  readonly json?: true;
}

export function createCommand(): Command {
  return new Command('dismiss')
    .argument('<delivery>', 'id of the delivery, as `quarantine` shows it')
    .requiredOption('--reason <words>', 'reason, for the ledger')
    .option('--json', 'print what settled the body as one JSON document')
    .action(async (id: string, { reason, json }: Options) => {
      if (reason.trim() === '') throw new UsageError('--reason is empty: say why the body is not needed');
      const settlement = await dismiss(id, reason.trim());
      if (json) printJson(settlement);
      else printLines([formatSettlement(id, settlement)]);
    });
}

function dismiss(id: string, reason: string): Promise<Settlement> {
  return withLedgerWriter(false, async ({ store, view, ledger }) => {
    await view.refresh();
    const parts = { quarantine: createQuarantineStore(store), view, ledger };
    return dismissBody(parts, id, { actor: CLI_ACTOR, reason, scope: null });
  });
}

function formatSettlement(id: string, { by, actor, settledAt, reason }: Settlement): string {
  const who = actor === null ? '' : ` by ${actor}`;
  const why = reason === null ? '' : `: ${reason}`;
  return `${id} is settled: ${by}${who} at ${settledAt}${why}`;
}
