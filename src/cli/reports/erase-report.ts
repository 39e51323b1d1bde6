import { appendFile, readFile } from 'node:fs/promises';
import type { ErasureRunLine } from '../../domain/erasure-totals.js';
import type { ErasureLine } from '../../operations/actions/erase/erase-jobs.js';
import { UsageError } from '../shared/exit-codes.js';

/** The report of an erasure as a file of JSON lines. Goes on where the file ends. Throws `UsageError` when it cannot be written. */
export async function openEraseReport(path: string) {
  const before = await readFile(path).catch(() => Buffer.alloc(0));
  // A run that is killed leaves the beginning of a line.
  const isTorn = before.length > 0 && before.at(-1) !== 0x0a;
  await appendFile(path, isTorn ? '\n' : '', { mode: 0o600 }).catch((error: Error) => {
    throw new UsageError(`--report cannot be written: ${error.message}`);
  });
  let last: Promise<unknown> = Promise.resolve();
  return {
    // One after the other: lines of two jobs must not be mixed.
    /** Appends the beginning or the end of a run, what became of a job, or a file of the ledger that could not be read. */
    add(line: ErasureLine | ErasureRunLine | { readonly unread: string }): Promise<void> {
      const adding = last.then(() => appendFile(path, `${JSON.stringify(line)}\n`));
      last = adding.catch(() => undefined);
      return adding;
    },
  };
}
