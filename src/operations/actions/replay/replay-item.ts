import { Problem } from '../../../domain/problem.js';
import { newDeliveryId, operatorLine } from '../../../ledger/ledger-line.js';
import type { Ledger } from '../../../ledger/write/ledger.js';
import { refetchJob } from '../../../recovery/reconcile/fetch/refetch.js';
import type { RecoveryParts } from '../../../recovery/reconcile/recovery-parts.js';
import { type ReleaseParts, releaseBody } from '../release-body.js';
import { type NotifyParts, notifyItem, parseNotifyItem } from './notify-item.js';
import { type ReplayFailure, type ReplayItemResult, type ReplayState, scopeOf } from './replay-state.js';

export interface ReplayItemParts {
  readonly recovery: RecoveryParts;
  readonly release: ReleaseParts;
  readonly notify: NotifyParts;
  readonly ledger: Pick<Ledger, 'append'>;
  /** Called with every item that failed, for the log. */
  readonly onReplayFailure?: (failure: ReplayFailure & { readonly replayId: string }) => void;
  readonly onError?: (error: unknown) => void;
}

/** Processes one item of a replay. Idempotent, because the last items are repeated after an interruption. */
export async function processItem(
  { recovery, release, notify }: ReplayItemParts,
  state: ReplayState,
  item: string,
  signal: AbortSignal,
): Promise<ReplayItemResult> {
  try {
    signal.throwIfAborted();
    const { kind } = state.selector;
    if (kind === 'notify') return await notifyItem(notify, item, signal);
    return kind === 'refetch'
      ? await refetchItem(recovery, state, item, signal)
      : await releaseItem(release, state, item);
  } catch (error) {
    return { outcome: 'failed', failed: true, reason: messageOf(error), jobId: jobOf(state, item) };
  }
}

/** The job of an item; for a body its id. */
function jobOf({ selector: { kind } }: ReplayState, item: string): string {
  return kind === 'notify' ? parseNotifyItem(item).jobId : item;
}

/** The region of the selector is only a filter: each job is requested from the region that made it. */
async function refetchItem(
  recovery: RecoveryParts,
  { actor, reason, selector }: ReplayState,
  jobId: string,
  signal: AbortSignal,
): Promise<ReplayItemResult> {
  let recorded = false;
  const append: Ledger['append'] = (line) => {
    recorded = true;
    return recovery.ledger.append(line);
  };
  const options = { actor, reason, source: selector.source, scope: scopeOf(selector), signal };
  const job = await refetchJob({ ...recovery, ledger: { ...recovery.ledger, append } }, jobId, options);
  const failed = job.outcome === 'failed' || job.outcome === 'unrecoverable';
  const result = { outcome: job.outcome, failed, reason: failed ? job.reason : null, jobId };
  return recorded ? { ...result, recorded: true } : result;
}

async function releaseItem(parts: ReleaseParts, state: ReplayState, id: string): Promise<ReplayItemResult> {
  try {
    const { outcome, jobId } = await releaseBody(parts, id, { actor: state.actor, reason: state.reason });
    return { outcome, failed: false, reason: null, jobId };
  } catch (error) {
    const request = await parts.quarantine.request(id).catch(() => null);
    const jobId = request?.jobId ?? id;
    const code = error instanceof Problem ? error.code : null;
    // The job was erased meanwhile: there is nothing left to release.
    if (code === 'not-found') return { outcome: 'gone', failed: false, reason: null, jobId };
    const outcome = code === 'conflict' ? 'undecodable' : 'failed';
    return { outcome, failed: true, reason: messageOf(error), jobId };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Records a failed item in the log and the ledger. An event that was not sent gets no line, because it is no failure of the job. A body that
 * was not released gets `release-failed`, and waits as before.
 */
export async function recordItemFailure(
  { ledger, onReplayFailure, onError }: ReplayItemParts,
  { replayId, actor, selector: { kind, source, region } }: ReplayState,
  { recorded, ...failure }: ReplayFailure & Pick<ReplayItemResult, 'recorded'>,
): Promise<void> {
  const { jobId, outcome, reason } = failure;
  onReplayFailure?.({ replayId, ...failure });
  if (recorded || kind === 'notify') return;
  const refetchOutcome = outcome === 'unrecoverable' ? outcome : 'failed';
  const line = operatorLine(
    { actor, reason },
    {
      deliveryId: newDeliveryId(),
      outcome: kind === 'release' ? 'release-failed' : refetchOutcome,
      jobId,
      source: source ?? null,
      region: region ?? null,
    },
  );
  // If the store fails, the failure is still saved with the state of the replay later.
  await ledger.append(line).catch((error: unknown) => onError?.(error));
}
