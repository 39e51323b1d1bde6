import { type DeliveryContext, hasContextValue } from '../../../domain/context.js';
import { scanLines } from '../../../ledger/log/scan-lines.js';
import type { ObjectStore } from '../../../store/object-store.js';

export interface FoundJobs {
  /** Jobs that have a line with all values of the context. */
  readonly jobIds: readonly string[];
  /** Other jobs with a line in which the value of one of the names was omitted, so that they may belong to the context. */
  readonly unclear: readonly string[];
  /** Parts of the ledger that could not be read, so that jobs may be missing. */
  readonly faults: readonly string[];
}

/** Finds the jobs of a context in the whole ledger, because an erasure of a person's data must be complete. Rejects with `StoreError`. */
export async function jobsOfContext(store: ObjectStore, context: DeliveryContext): Promise<FoundJobs> {
  const wanted = Object.entries(context);
  const found = new Set<string>();
  const unclear = new Set<string>();
  const faults = new Set<string>();
  const scan = scanLines({
    store,
    since: Number.NEGATIVE_INFINITY,
    until: Number.POSITIVE_INFINITY,
    onFault: (text) => faults.add(text),
    onUnreadable: (key, lines) => faults.add(`lines of ${key} that cannot be read (${lines})`),
  });
  for await (const { line } of scan) {
    const { jobId, context: held, contextOmitted } = line;
    if (jobId === null) continue;
    if (wanted.every(([name, value]) => hasContextValue(held, name, value))) found.add(jobId);
    else if (wanted.some(([name]) => isLeftOut(contextOmitted, name))) unclear.add(jobId);
  }
  return {
    jobIds: [...found],
    unclear: [...unclear].filter((jobId) => !found.has(jobId)),
    faults: [...faults],
  };
}

/** Checks the type at run time, because the field comes from the store. */
function isLeftOut(omitted: unknown, name: string): boolean {
  return typeof omitted === 'object' && omitted !== null && Object.hasOwn(omitted, name);
}
