import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { processItem, type ReplayItemParts, recordItemFailure } from './replay-item.js';
import { type ReplayItemResult, type ReplayState, withItem } from './replay-state.js';
import type { ReplayStore } from './replay-store.js';

export interface ReplayRunParts extends ReplayItemParts {
  readonly replays: ReplayStore;
  /** Name of this replica. */
  readonly owner: string;
  /** Whether live traffic needs the resources that a replay would use. */
  readonly busy: () => boolean;
  /** Milliseconds between heartbeats. Default 1,000. */
  readonly heartbeat?: number | undefined;
}

/** How a run ended; after `superseded` and `stopped` another run continues the replay. */
export type RunEnd = 'done' | 'cancelled' | 'superseded' | 'stopped';

const BUSY_PAUSE = 100;

/**
 * Processes the items of a replay in batches, from the first one that is not counted yet, and only while callbacks do not need the memory.
 * Items are idempotent, so that another replica can resume the replay, and two replicas that run it at once do no harm.
 *
 * Ends when all items were processed, an operator cancels the replay, another replica takes it over, or `stop` aborts.
 */
export async function runReplay(
  parts: ReplayRunParts,
  found: ReplayState,
  stop: AbortSignal,
  onProgress: (state: ReplayState) => void = () => {},
): Promise<RunEnd> {
  const { replays, owner, recovery, heartbeat = 1000 } = parts;
  const { replayId } = found;
  const items = await replays.items(replayId);
  const interrupt = new AbortController();
  const signal = AbortSignal.any([stop, interrupt.signal]);
  const limit = pLimit(recovery.concurrency);
  let state: ReplayState = { ...found, owner };
  let interruption: RunEnd | null = null;

  const position = () => state.done + state.failed;

  async function save(heartbeatAt: string | null): Promise<void> {
    await replays.save({ ...state, heartbeatAt });
  }

  async function findInterruption(): Promise<RunEnd | null> {
    const stored = await replays.read(replayId);
    if (stored?.cancelled) return 'cancelled';
    return stored === null || stored.state.owner === owner ? null : 'superseded';
  }

  async function sendHeartbeats(ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      await pause(heartbeat, ended);
      if (ended.aborted) return;
      interruption = await findInterruption().catch(() => null);
      if (interruption !== null) return interrupt.abort();
      // A failing store fails the items as well, and the next heartbeat retries.
      await save(now()).catch(() => undefined);
    }
  }

  async function processBatch(): Promise<void> {
    const batch = items.slice(position(), position() + 4 * recovery.concurrency);
    const results = await limit.map(batch, (item) => processItem(parts, state, item, signal));
    // After an abort, items from the first failure on are not counted, because they may have been interrupted.
    const interrupted = signal.aborted ? results.findIndex(({ failed }) => failed) : -1;
    await count(batch, interrupted === -1 ? results : results.slice(0, interrupted));
  }

  async function count(batch: readonly string[], results: readonly ReplayItemResult[]): Promise<void> {
    const failures = results.flatMap(({ failed, ...result }, index) =>
      failed ? [{ ...result, item: batch[index] ?? '' }] : [],
    );
    await Promise.all(failures.map((failure) => recordItemFailure(parts, state, failure)));
    state = results.reduce((before, result, index) => withItem(before, batch[index] ?? '', result), state);
    onProgress(state);
  }

  const ended = new AbortController();
  if (found.owner !== owner) await save(now());
  const heartbeats = sendHeartbeats(ended.signal);
  try {
    // The index must have the last work of the other replica, or a body that it released would be released again.
    if (found.owner !== owner) await parts.notify.view.refresh();
    while (!signal.aborted && position() < items.length) {
      if (parts.busy()) await pause(BUSY_PAUSE, signal);
      else await processBatch();
    }
  } finally {
    ended.abort();
    await heartbeats;
  }
  const isFinished = position() >= items.length;
  // Checked once more, because the replay may have been cancelled since the last heartbeat.
  if (isFinished) interruption ??= await findInterruption();
  if (interruption === 'superseded') return interruption;
  const end = interruption ?? (isFinished ? 'done' : 'stopped');
  if (end === 'done') state = { ...state, finishedAt: now() };
  // Clears the heartbeat, so that another replica can resume at once.
  await save(null);
  return end;
}

/** Resolves early when the signal aborts. */
function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
}

function now(): string {
  return new Date().toISOString();
}
