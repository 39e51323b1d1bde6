import type { Archive } from '../archive/archive.js';
import type { Ledger } from '../archive/ledger/ledger.js';
import { type AuditInfo, newDeliveryId, operatorLine } from '../archive/ledger/ledger-line.js';
import { createQuarantineShelf, type QuarantineShelf } from '../archive/quarantine/quarantine-store.js';
import { Problem } from '../domain/problem.js';
import { createLedgerView, type LedgerView } from '../ledger-view/ledger-view.js';
import { clientsOf } from '../recovery/find-job.js';
import type { RecoveryParts } from '../recovery/recovery-parts.js';
import type { RecoveredJob } from '../recovery/recovery-report.js';
import { refetch } from '../recovery/refetch.js';
import { SpeechError } from '../speech/speech-error.js';
import type { ObjectStore } from '../store/object-store.js';
import { type ReleaseParts, type ReleasingSource, releaseBody } from './release-body.js';
import type { ReplayState } from './replay-state.js';
import { createReplayShelf, type ReplayFailure } from './replay-store.js';
import { createReplays, type Replays } from './replays.js';
import type { ItemOutcome } from './run-replay.js';

export interface RepairOptions {
  readonly store: ObjectStore;
  readonly archive: Archive;
  readonly ledger: Ledger;
  readonly sources: ReadonlyMap<string, ReleasingSource>;
  readonly recovery: RecoveryParts;
  readonly maxParts: number;
  /** Name of this replica. */
  readonly replica: string;
  /** Whether live traffic needs what a replay would take. */
  readonly busy: () => boolean;
  readonly onReleased?: (bytes: number) => void;
  readonly onError?: (error: unknown) => void;
  /** Told of every item of a replay that failed, for the log. */
  readonly onReplayFailure?: (failure: Omit<ReplayFailure, 'failed'> & { readonly replayId: string }) => void;
  /** Milliseconds before a replay tries again that waits for the end of an outage. */
  readonly outagePause?: number;
  /** Milliseconds after which an abandoned replay is taken up. */
  readonly lease?: number;
}

/** What can be done about what went wrong; for the admin API and the command line alike. */
export interface Repairs {
  readonly view: LedgerView;
  readonly shelf: QuarantineShelf;
  readonly release: ReleaseParts;
  readonly replays: Replays;
  /** Rejects with `conflict` when the service's API is not configured. */
  refetchJob(jobId: string, order: RefetchJobOrder): Promise<RecoveredJob>;
}

export interface RefetchJobOrder extends AuditInfo {
  readonly region?: string | undefined;
  readonly source?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export function createRepairs(options: RepairOptions): Repairs {
  const { store, archive, ledger, sources, maxParts, onReleased, onError, lease } = options;
  const view = createLedgerView({ store, retention: options.recovery.retention });
  const shelf = createQuarantineShelf(store);
  const release = { store, shelf, sources, archive, ledger, maxParts, ...(onReleased ? { onReleased } : {}) };
  const refetchJob = (jobId: string, order: RefetchJobOrder) => refetchOne(options.recovery, jobId, order);
  const replays = createReplays({
    view,
    shelf,
    replays: createReplayShelf(store),
    ledger,
    owner: options.replica,
    busy: options.busy,
    concurrency: options.recovery.concurrency,
    ...(onError ? { onError } : {}),
    ...(lease === undefined ? {} : { lease }),
    check: ({ kind }) => {
      if (kind === 'refetch') checkService(options.recovery);
    },
    onFailed: (state, item, result) => nameFailure(options, state, item, result),
    ...(options.outagePause === undefined ? {} : { outagePause: options.outagePause }),
    work: (state, item, signal) =>
      state.selector.kind === 'refetch'
        ? workOnJob(options.recovery, state, item, signal)
        : workOnBody(release, state, item),
  });
  return { view, shelf, release, replays, refetchJob };
}

async function refetchOne(
  recovery: RecoveryParts,
  jobId: string,
  { actor, region, source, signal }: RefetchJobOrder,
): Promise<RecoveredJob> {
  const regions = region === undefined ? undefined : [region];
  checkService(recovery, regions);
  return refetch(recovery, { jobId, regions, source, actor, signal, origin: 'replay' });
}

/** Throws `conflict` when the service's API is not configured: no region, or no key. */
function checkService(recovery: RecoveryParts, regions?: readonly string[]): void {
  if (recovery.speech.regions.length === 0) {
    throw new Problem('conflict', 'No region can be asked: set speech.regions.<region>.batchUrl.');
  }
  try {
    clientsOf(recovery, regions);
  } catch (error) {
    if (!(error instanceof SpeechError) || error.kind !== 'configuration') throw error;
    throw new Problem('conflict', `${error.message}.`, { cause: error });
  }
}

/** The region of the selector filters what is selected; each job is asked for where it was made. */
async function workOnJob(
  recovery: RecoveryParts,
  { actor, reason, selector }: ReplayState,
  jobId: string,
  signal: AbortSignal,
): Promise<ItemOutcome> {
  let recorded = false;
  const append: Ledger['append'] = (line) => {
    recorded = true;
    return recovery.ledger.append(line);
  };
  const order = { actor, reason, source: selector.source, signal };
  const told = await refetchOne({ ...recovery, ledger: { ...recovery.ledger, append } }, jobId, order);
  const failed = told.outcome === 'failed' || told.outcome === 'unrecoverable';
  const result = { outcome: told.outcome, failed, reason: failed ? told.reason : null, jobId };
  return recorded ? { ...result, recorded: true } : result;
}

/** A failure that only the replay counts could not be found again: the ledger and the log name the job. */
async function nameFailure(
  { ledger, onReplayFailure, onError }: RepairOptions,
  { replayId, actor, selector: { source, region } }: ReplayState,
  item: string,
  { jobId, outcome, reason, recorded }: ItemOutcome,
): Promise<void> {
  onReplayFailure?.({ replayId, item, jobId, outcome, reason });
  if (recorded) return;
  const act = {
    deliveryId: newDeliveryId(),
    outcome: outcome === 'unrecoverable' ? outcome : 'failed',
    jobId,
  };
  const line = { ...act, source: source ?? null, region: region ?? null };
  // The store is in trouble: the failure is still kept with the replay once it can be written.
  await ledger.append(operatorLine({ actor, reason }, line)).catch((error) => onError?.(error));
}

async function workOnBody(parts: ReleaseParts, state: ReplayState, id: string): Promise<ItemOutcome> {
  try {
    const { outcome, jobId } = await releaseBody(parts, id, { actor: state.actor, reason: state.reason });
    return { outcome, failed: false, reason: null, jobId };
  } catch (error) {
    const jobId = await parts.shelf.request(id).then(
      (request) => request?.jobId ?? id,
      () => id,
    );
    if (!(error instanceof Problem)) throw error;
    // Erased meanwhile: there is nothing left to release.
    if (error.code === 'not-found') return { outcome: 'gone', failed: false, reason: null, jobId };
    const outcome = error.code === 'conflict' ? 'undecodable' : 'failed';
    return { outcome, failed: true, reason: error.message, jobId };
  }
}
