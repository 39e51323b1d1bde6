import type { ScannedLine } from '../../ledger/log/scan-hour.js';
import { scanLines } from '../../ledger/log/scan-lines.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { LedgerView } from '../ledger-view.js';

/**
 * Whether a line says that an operator erased the job. Its mark may be missing: a bucket was restored without its dot-folders. Waits for an
 * index that is being built, and reads the log where it does not reach back as far. Rejects with `StoreError` and `IndexError`.
 *
 * @param since ISO 8601
 */
export async function isErasedInLedger(
  from: IndexAndLog & { readonly view: Pick<LedgerView, 'hasErased'> },
  job: string,
  since: string,
): Promise<boolean> {
  const begin = await from.view.reachBack(Date.parse(since));
  if (await from.view.hasErased(job, Date.parse(since))) return true;
  return (await erasedBefore(from, Date.parse(since), begin)).has(job);
}

/** Jobs that were erased before the index begins, by store: many are asked for one after the other. */
const known = new WeakMap<
  object,
  { readonly since: number; readonly until: number; readonly jobs: Set<string> }
>();

async function erasedBefore(from: IndexAndLog, since: number, until: number): Promise<ReadonlySet<string>> {
  if (until <= since) return new Set();
  const read = known.get(from.store);
  if (read !== undefined && read.since <= since && read.until >= until) return read.jobs;
  const jobs = new Set<string>();
  for await (const { line } of linesBeforeIndex(from, since))
    if (line.outcome === 'erased' && line.jobId !== null) jobs.add(line.jobId);
  known.set(from.store, { since, until, jobs });
  return jobs;
}

/** The index, and the log that it was built from. */
export interface IndexAndLog {
  readonly store: ObjectStore;
  readonly view: Pick<LedgerView, 'reachBack'>;
}

/** Lines written from an instant until the index begins, from the log: none where it reaches back as far. Rejects as `reachBack` does. */
export async function* linesBeforeIndex(from: IndexAndLog, since: number): AsyncGenerator<ScannedLine> {
  const until = await from.view.reachBack(since);
  // `verify` names what cannot be read.
  if (until > since)
    yield* scanLines({ store: from.store, since, until, onFault: ignore, onSkipped: ignore });
}

function ignore(): void {}
