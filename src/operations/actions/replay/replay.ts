import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { type ReplayItemParts, recordItemFailure, workOnItem } from './replay-item.js';
import { type ReplayItemResult, type ReplayState, withItem } from './replay-state.js';
import type { ReplayStore } from './replay-store.js';

export interface ReplayRunParts extends ReplayItemParts {
  readonly replays: ReplayStore;
  /** Name of this replica. */
  readonly owner: string;
  /** Whether live traffic needs what a replay would take. */
  readonly busy: () => boolean;
  /** Milliseconds between heartbeats. Default 1,000. */
  readonly heartbeat?: number | undefined;
}

/** How a run ended; only `done` ends the replay for good. */
export type RunEnd = 'done' | 'cancelled' | 'superseded' | 'stopped';

const BUSY_PAUSE = 100;

/**
 * Works through the list of a replay, from the first item that was not counted yet: a stretch at a time, and only while callbacks
 * do not need the memory. Every item may be worked on again, so that a replica that goes on after another, and two that do so at
 * once, do no harm.
 *
 * Ends when all items were worked on, an operator cancels the replay, another replica goes on with it, or `stop` aborts.
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
      // A store that fails here fails the items as well. The next heartbeat tries again.
      await save(now()).catch(() => undefined);
    }
  }

  async function workOnStretch(): Promise<void> {
    const stretch = items.slice(position(), position() + 4 * recovery.concurrency);
    const results = await limit.map(stretch, (item) => workOnItem(parts, state, item, signal));
    // What the end of the run cut off is worked on again.
    const cutOff = signal.aborted ? results.findIndex(({ failed }) => failed) : -1;
    await count(stretch, cutOff === -1 ? results : results.slice(0, cutOff));
  }

  async function count(stretch: readonly string[], results: readonly ReplayItemResult[]): Promise<void> {
    const failures = results.flatMap(({ failed, ...result }, index) =>
      failed ? [{ ...result, item: stretch[index] ?? '' }] : [],
    );
    await Promise.all(failures.map((failure) => recordItemFailure(parts, state, failure)));
    state = results.reduce((before, result, index) => withItem(before, stretch[index] ?? '', result), state);
    onProgress(state);
  }

  const ended = new AbortController();
  if (found.owner !== owner) await save(now());
  const heartbeats = sendHeartbeats(ended.signal);
  try {
    // What the other replica did last is not in the index of this one yet: a body that it released would be released again.
    if (found.owner !== owner) await parts.notify.view.refresh();
    while (!signal.aborted && position() < items.length) {
      if (parts.busy()) await pause(BUSY_PAUSE, signal);
      else await workOnStretch();
    }
  } finally {
    ended.abort();
    await heartbeats;
  }
  // The last items may have ended between two heartbeats: a replay that was cancelled meanwhile is not done.
  const isFinished = position() >= items.length;
  if (interruption === null && isFinished) interruption = await findInterruption();
  if (interruption === 'superseded') return interruption;
  if (interruption === null && isFinished) state = { ...state, finishedAt: now() };
  // Without a heartbeat another replica can go on at once.
  await save(null);
  return interruption ?? (isFinished ? 'done' : 'stopped');
}

/** Ends early, and never rejects, when the signal aborts. */
function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
}

function now(): string {
  return new Date().toISOString();
}
