import { appendFile, readFile } from 'node:fs/promises';
import { isJsonObject, parseJson } from '../../text/parse-json.js';
import { UsageError } from './exit-codes.js';

/** The report of an erasure as a file of JSON lines, one a job. A later run with the same file goes on where it ends. */
export interface EraseReport {
  /** Whether an earlier run erased the job completely. */
  isErased(jobId: string): boolean;
  /** Appends what became of a job. */
  add(outcome: { readonly jobId: string }): Promise<void>;
}

/** Throws `UsageError` for a file that is no such report, or that cannot be written. */
export async function openEraseReport(path: string): Promise<EraseReport> {
  const { erased, isTorn } = await readReport(path);
  await appendFile(path, isTorn ? '\n' : '', { mode: 0o600 }).catch((error: Error) => {
    throw new UsageError(`--report cannot be written: ${error.message}`);
  });
  let last: Promise<unknown> = Promise.resolve();
  return {
    isErased: (jobId) => erased.has(jobId),
    // One after the other: lines of two jobs must not be mixed.
    add(outcome) {
      const adding = last.then(() => appendFile(path, `${JSON.stringify(outcome)}\n`));
      last = adding.catch(() => undefined);
      return adding;
    },
  };
}

interface EarlierRuns {
  readonly erased: ReadonlySet<string>;
  /** The file ends within a line: its run was killed. */
  readonly isTorn: boolean;
}

async function readReport(path: string): Promise<EarlierRuns> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw new UsageError(`--report cannot be read: ${error.message}`);
  });
  const erased = text.split('\n').flatMap((line, n) => {
    const outcome = parseJson(line);
    if (isJsonObject(outcome) && typeof outcome.jobId === 'string')
      return outcome.complete === true ? [outcome.jobId] : [];
    // The beginning of a line is what a run leaves that is killed.
    if ('{"jobId"'.startsWith(line.slice(0, 8))) return [];
    throw new UsageError(`--report: line ${n + 1} of ${path} is not of such a report`);
  });
  return { erased: new Set(erased), isTorn: text !== '' && !text.endsWith('\n') };
}
