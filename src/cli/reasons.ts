import { Command } from 'commander';
import { isReasonCode, REASONS, type Reason } from '../domain/reasons.js';
import { UsageError } from './shared/exit-codes.js';
import { printJson, printLines } from './shared/format/print.js';

export function createCommand(): Command {
  return new Command('reasons')
    .argument('[code...]', 'codes as page, ledger, log and answers show them; default: all')
    .option('--json', 'print one JSON document')
    .action((codes: string[], { json }: { json?: true }) => {
      const unknown = codes.find((code) => !isReasonCode(code));
      if (unknown !== undefined)
        throw new UsageError(
          `${JSON.stringify(unknown)} is not a code of a reason; without a code, reasons lists all`,
        );
      const shown = Object.entries<Reason>(REASONS).filter(
        ([code]) => codes.length === 0 || codes.includes(code),
      );
      if (json) printJson(shown.map(([code, { words, remedy }]) => ({ code, words, remedy })));
      else
        printLines(
          shown.map(([code, { words, remedy }]) => `${code}: ${words}.${remedy ? ` ${remedy}` : ''}`),
        );
    });
}
