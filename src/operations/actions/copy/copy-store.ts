import { createMerger } from '../../../ledger/merge/merge.js';
import { span } from '../../../lib/text/amounts.js';
import {
  type ListRange,
  type ObjectStore,
  PartialListingError,
  StoreError,
} from '../../../store/object-store.js';
import { createOutageCheck } from '../../../store/outage-check.js';
import { writeCopyMark } from '../../../store/probe/copy-mark.js';
import { createByteGate } from './byte-gate.js';
import { copiedPlaces, isErasureMark } from './copied-places.js';
import { type BetweenStores, copyBetween, UncopiedObjectError } from './copy-between.js';
import { type AddFault, type CopyReport, faultsOf } from './copy-report.js';
import { isRunning } from './copy-target.js';
import { forEachConcurrently } from './for-each-concurrently.js';
import { type KeyPair, pairKeys } from './pair-keys.js';
import { hasSameBytes, isSame } from './same-object.js';

export interface CopyOptions {
  readonly from: ObjectStore;
  /** Checked by `copyFault`. */
  readonly to: ObjectStore;
  /** Compare all bytes of both at the end. */
  readonly deep: boolean;
  /** Let the copy be served although objects of the source are missing in it. */
  readonly acceptMissing: boolean;
  /** Largest age in milliseconds of the canary of a running receiver. */
  readonly canaryAge: number;
  readonly signal: AbortSignal;
  readonly onProgress: (step: 'merging' | 'copying' | 'verifying', report: CopyReport) => void;
}

interface Run extends CopyOptions, BetweenStores {
  readonly report: CopyReport;
  readonly addFault: AddFault;
  readonly outage: ReturnType<typeof createOutageCheck>;
}

/** Objects copied at once; their bytes in memory are bounded by `MEMORY`. */
const AT_ONCE = 32;
const MEMORY = 64 * 1024 * 1024;
/** Failures in a row after which the run checks whether both stores answer at all. */
const MAX_FAILURES = 32;
/** Attempts for each object, because a body can be truncated; requests have retries of their own. */
const ATTEMPTS = 2;

/**
 * Copies a store byte for byte, or updates an earlier copy: missing and different objects are written, objects that the source does not have
 * any more are removed. The source may be served meanwhile. It is not changed, except that whole hours of its ledger are merged. Throws
 * `StoreError` when one of the stores cannot be read or written.
 */
export async function copyStore(options: CopyOptions): Promise<CopyReport> {
  const { from, to, signal, deep } = options;
  const startedAt = new Date().toISOString();
  const source = { location: from.location, id: await from.identity() };
  const mark = { from: source, startedAt, finishedAt: null };
  await writeCopyMark(to, mark);
  const report: CopyReport = {
    startedAt,
    finishedAt: startedAt,
    from: source,
    deep,
    faults: [],
    notices: [],
    faultCount: 0,
    to: { location: to.location, id: await to.begin() },
    mergedHours: 0,
    copied: 0,
    bytes: 0,
    there: 0,
    removed: 0,
    verified: 0,
    interrupted: false,
    finished: false,
  };
  const holding = createByteGate(Math.max(MEMORY, 3 * to.partSize));
  const run: Run = {
    ...options,
    report,
    holding,
    addFault: faultsOf(report),
    outage: createOutageCheck(MAX_FAILURES, () => Promise.all([from.identity(), writeCopyMark(to, mark)])),
  };
  try {
    await mergeFirst(run);
    await eachPlace(run, 'copying', copyPair);
    await eachPlace(run, 'verifying', verifyPair);
    await noteReceivers(run);
  } catch (error) {
    if (!signal.aborted) throw error;
    report.interrupted = true;
  }
  report.finishedAt = new Date().toISOString();
  report.finished = !report.interrupted && mayBeServed(report, options);
  if (report.finished) await writeCopyMark(to, { ...mark, finishedAt: report.finishedAt });
  return report;
}

/** Never with a missing mark of erasure, because the erased job would be stored again. */
function mayBeServed({ faultCount, faults }: CopyReport, { acceptMissing }: CopyOptions): boolean {
  return faultCount === 0 || (acceptMissing && !faults.some(({ key }) => isErasureMark(key)));
}

/** Merges the ledger first, because merge records keep the time of each segment. Other segments keep theirs in the metadata of the copy. */
async function mergeFirst(run: Run): Promise<void> {
  const { from: store, report, signal, onProgress } = run;
  onProgress('merging', report);
  const merger = createMerger({ store, clock: Date.now, keepSegments: null });
  const { hours, faults } = await merger.run({ signal, onRecord: () => onProgress('merging', report) });
  signal.throwIfAborted();
  report.mergedHours = hours;
  const [first] = faults;
  if (first === undefined) return;
  const where = first.hour ?? 'The ledger';
  report.notices.push(
    `${where} could not be merged in ${store.location}: ${first.reason}. The copy has all of its segments, and the order of their lines.`,
  );
}

type Step = 'copying' | 'verifying';

async function eachPlace(
  run: Run,
  step: Step,
  work: (run: Run, pair: KeyPair) => Promise<void>,
): Promise<void> {
  const { from, to, signal, report, onProgress, addFault } = run;
  const onUnreadable: ListRange['onUnreadable'] = (folder, { message }) => addFault(folder, message);
  for (const list of copiedPlaces()) {
    await forEachConcurrently(pairKeys(list(from, onUnreadable), list(to)), AT_ONCE, async (pair) => {
      signal.throwIfAborted();
      await attempt(run, pair.key, () => work(run, pair));
      onProgress(step, report);
    });
  }
}

async function attempt(run: Run, key: string, work: () => Promise<void>): Promise<void> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      await work();
      run.outage.succeeded();
      return;
    } catch (error) {
      if (run.signal.aborted || !(error instanceof StoreError)) throw error;
      if (attempts < ATTEMPTS && !(error instanceof UncopiedObjectError)) continue;
      run.addFault(key, error.message);
      // Not an outage: both stores answered.
      if (error instanceof UncopiedObjectError) return run.outage.succeeded();
      if (!(await run.outage.failed())) return;
      throw new StoreError(
        'copy',
        `${MAX_FAILURES} objects in a row failed, the last one ${key}: ${error.message}`,
        { cause: error },
      );
    }
  }
}

async function copyPair(run: Run, pair: KeyPair): Promise<void> {
  const { report, to } = run;
  if (pair.source === null) return removePair(run, pair.key);
  if (pair.copy !== null && (await isSame(run, pair))) {
    report.there += 1;
    return;
  }
  const bytes = await copyBetween(run, pair);
  // The object was removed after it was listed.
  if (bytes === null) return void (pair.copy !== null && (await to.delete(pair.key)));
  report.copied += 1;
  report.bytes += bytes;
}

/** Removes an object and its old versions from the copy: it may have been erased in the source since the last run. */
async function removePair({ from, to, report, addFault }: Run, key: string): Promise<void> {
  // Guards against a partial listing of the source, which could otherwise remove a mark of erasure.
  if ((await from.head(key)) !== null) throw new PartialListingError('', key);
  for await (const { kept, what } of to.purge(key)) {
    if (kept === null && what === 'object') report.removed += 1;
    if (kept === null) continue;
    const until = kept.until === null ? '' : ` until ${kept.until.toISOString()}`;
    addFault(key, `it is not in the source any more, and is kept in the copy${until} (${kept.reason})`);
  }
}

async function verifyPair(run: Run, { key, source, copy }: KeyPair): Promise<void> {
  const { report, addFault, deep } = run;
  const changed = 'it changed in the source while it was copied, so copy again';
  if (source === null) return addFault(key, 'it is not in the source any more, so copy again');
  const isNew = source.modifiedAt.getTime() - run.from.clockOffset() >= Date.parse(report.startedAt) - 1000;
  if (copy === null) return addFault(key, isNew ? changed : 'it is not in the copy');
  if (source.size !== copy.size)
    return addFault(
      key,
      isNew ? changed : `it has ${copy.size} bytes in the copy, and ${source.size} in the source`,
    );
  if (deep && !(await hasSameBytes(run, key)))
    return addFault(key, isNew ? changed : 'it has other bytes in the copy');
  report.verified += 1;
}

async function noteReceivers({ from, to, canaryAge, report, addFault }: Run): Promise<void> {
  if (await isRunning(to, canaryAge))
    addFault('.canary/', `a receiver writes to ${to.location}: stop it, and copy again`);
  if (!(await isRunning(from, canaryAge))) return;
  report.notices.push(
    `A receiver has written to ${from.location} within the last ${span(canaryAge)}: if it still runs, stop it and copy again before the copy is served.`,
  );
}
