import { readAhead } from '../../read-ahead.js';
import type { HourFile } from '../log/compacted-hours.js';
import type { FailingJobs } from './failing-jobs.js';
import { findSettlingLines } from './find-settling-lines.js';
import type { HourFaults } from './hour-faults.js';

const FILES_AT_ONCE = 4;

interface SettleByFiles {
  readonly failing: Pick<FailingJobs, 'jobs' | 'settle'>;
  readonly faults: HourFaults;
  readonly files: readonly HourFile[];
  /** The jobs that a file may settle, when its turn comes. */
  readonly jobsFor: (file: HourFile) => Iterable<string>;
}

/** Settles failures by the lines of compacted files, and notes what is damaged. Rejects with `StoreError`. */
export async function settleByFiles({ failing, faults, files, jobsFor }: SettleByFiles): Promise<void> {
  const settled = readAhead(files, FILES_AT_ONCE, async (file) => {
    const probes = new Map(
      [...jobsFor(file)].flatMap((job) => {
        const known = failing.jobs.get(job);
        return known === undefined ? [] : [[job, known.probe] as const];
      }),
    );
    if (probes.size === 0) return;
    const onFault = (text: string, hidesLines: boolean) => faults.note(text, file.hour, hidesLines);
    await faults.noteIn(file, async () => {
      for (const line of await findSettlingLines(await file.open(), probes, onFault)) failing.settle(line);
    });
  });
  for await (const _ of settled);
}
