import { operatorLine } from '../../../ledger/ledger-line.js';
import { requireService } from '../../../recovery/reconcile/fetch/refetch.js';
import type { LeaseWatch } from '../../../store/lease-watch.js';
import { takeOver } from '../../../store/take-over.js';
import { type ReplayItemParts, recordItemFailure, workOnItem } from './replay-item.js';
import { pause, ReplayOutage, type WorkedItem } from './replay-outage.js';
import { createReplayProgress } from './replay-progress.js';
import { type SelectionParts, selectItems } from './replay-selection.js';
import {
  type ReplaySelection,
  type ReplaySelector,
  type ReplayState,
  remainingItems,
} from './replay-state.js';
import type { ReplayStore } from './replay-store.js';

export interface ReplayParts extends SelectionParts, ReplayItemParts {
  readonly replays: ReplayStore;
  /** Name of this replica. */
  readonly owner: string;
  /** Whether live traffic needs what a replay would take. */
  readonly busy: () => boolean;
  /** Milliseconds between heartbeats, which also save the progress. Default 1,000. */
  readonly heartbeat?: number | undefined;
  /** Milliseconds before an item is tried again after everything failed for one reason; doubles up to a minute. Default 5,000. */
  readonly outagePause?: number | undefined;
}

/** How a run ended; only `done` ends the replay for good. */
export type RunEnd = 'done' | 'cancelled' | 'superseded' | 'stopped';

const BUSY_PAUSE = 100;

/**
 * Selects what a replay would work on. Throws `request-invalid` for a bad selector, and `conflict` for a refetch when
 * the service's API is not configured.
 */
export async function selectReplay(
  parts: ReplayParts,
  selector: ReplaySelector,
  signal?: AbortSignal,
): Promise<ReplaySelection> {
  if (selector.kind === 'refetch') requireService(parts.recovery);
  return selectItems(parts, selector, signal);
}

/**
 * Stores a replay with its items and the first claim, which belongs to this replica, and writes the ledger line. From
 * then on the replay is durable: any replica can run it.
 */
export async function createReplay(
  parts: ReplayParts,
  state: ReplayState,
  items: readonly string[],
): Promise<void> {
  const { actor, reason, replayId, bytes } = state;
  await parts.replays.create(state, items);
  await parts.ledger.append(
    operatorLine({ actor, reason }, { outcome: 'replayed', deliveryId: replayId, jobId: null, bytes }),
  );
}

/** Claims a replay that no replica works on, so that this one may run it; null otherwise. */
export function takeOverReplay(
  { replays, owner }: Pick<ReplayParts, 'replays' | 'owner'>,
  leases: LeaseWatch,
  state: ReplayState,
): Promise<ReplayState | null> {
  const { replayId } = state;
  const claim = (number: number) => replays.claim(replayId, number, owner);
  return takeOver({ name: replayId, owner, leases, claim, save: replays.save }, state);
}

/**
 * Runs a replay that this replica has claimed: works on the items, a few at a time and only while callbacks do not need
 * the memory; records each failure; waits while all items fail for one reason; saves the progress with every heartbeat;
 * until all items are done, an operator cancels the replay, another replica takes it over, or `stop` aborts.
 */
export async function runReplay(
  parts: ReplayParts,
  claimed: ReplayState,
  stop: AbortSignal,
  onProgress: (state: ReplayState) => void = () => {},
): Promise<RunEnd> {
  const { replays, heartbeat: interval = 1000, outagePause = 5000 } = parts;
  const items = await replays.items(claimed.replayId);
  const progress = createReplayProgress(replays, claimed, items, onProgress);
  const queue = remainingItems(claimed, items.length);
  const outage = new ReplayOutage(outagePause);
  const interrupt = new AbortController();
  const signal = AbortSignal.any([stop, interrupt.signal]);
  let interruption: Interruption | null = null;

  async function worker(): Promise<void> {
    while (!signal.aborted && queue.length > 0) {
      if (parts.busy()) await pause(BUSY_PAUSE, signal);
      else if (await outage.admits(signal)) await workOnNext();
    }
  }

  async function workOnNext(): Promise<void> {
    const index = signal.aborted ? undefined : queue.shift();
    if (index !== undefined) {
      const result = await workOnItem(parts, progress.state, items[index] ?? '', signal);
      // An item that an abort cut short does not count: the next run works on it again.
      if (signal.aborted && result.failed) return;
      const { settled, again } = outage.add({ index, result });
      queue.unshift(...again);
      progress.waitFor(outage.cause);
      await count(settled);
    }
    outage.endTrial();
  }

  async function count(settled: readonly WorkedItem[]): Promise<void> {
    for (const worked of settled) {
      const { index, result } = worked;
      if (result.failed) await recordItemFailure(parts, progress.state, items[index] ?? '', result);
      progress.count(worked);
    }
  }

  async function sendHeartbeats(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      await pause(interval, ended);
      if (ended.aborted) return;
      interruption = await findInterruption(replays, claimed).catch(() => null);
      if (interruption !== null) return interrupt.abort();
      // A store that fails here fails the items as well. The next heartbeat tries again.
      await progress.save({ heartbeatAt: now() }).catch(() => undefined);
    }
  }

  const ended = new AbortController();
  const heartbeats = sendHeartbeats(ended.signal);
  await Promise.all(Array.from({ length: parts.recovery.concurrency }, worker));
  ended.abort();
  await heartbeats;
  if (!signal.aborted) await count(outage.flush());

  const isFinished = progress.state.next >= items.length;
  // The last items may have ended between two heartbeats: a replay that was cancelled meanwhile is not done.
  if (interruption === null && isFinished) interruption = await findInterruption(replays, claimed);
  const end = interruption ?? (isFinished ? 'done' : 'stopped');
  // A superseded run must not write state. A stopped run clears its heartbeat so that another replica can go on at once.
  if (end === 'done') await progress.save({ heartbeatAt: now(), finishedAt: now() });
  else if (end !== 'superseded') await progress.save({ heartbeatAt: null });
  return end;
}

type Interruption = 'cancelled' | 'superseded';

async function findInterruption(
  replays: ReplayStore,
  { replayId, claim }: ReplayState,
): Promise<Interruption | null> {
  if (await replays.isSuperseded(replayId, claim)) return 'superseded';
  return (await replays.isCancelled(replayId)) ? 'cancelled' : null;
}

function now(): string {
  return new Date().toISOString();
}
