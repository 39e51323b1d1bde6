import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplayShelf } from './replay-shelf.js';
import { type ReplayState, withItem } from './replay-state.js';

/** What became of one item; `failed` ones count as such. */
export interface ItemOutcome {
  readonly outcome: string;
  readonly failed: boolean;
}

export interface ReplayParts {
  readonly shelf: ReplayShelf;
  /** Works on one item. Harmless when repeated: after an interruption the last few come again. */
  readonly work: (state: ReplayState, item: string, signal: AbortSignal) => Promise<ItemOutcome>;
  /** Whether live traffic needs what a replay would take. */
  readonly busy: () => boolean;
  /** Items worked on at once. */
  readonly concurrency: number;
  /** Milliseconds between signs of life, which also carry the progress. */
  readonly heartbeat: number;
  readonly onProgress?: ((state: ReplayState) => void) | undefined;
}

/** How a run ended; only `done` ends the replay for good. */
export type RunEnd = 'done' | 'cancelled' | 'superseded' | 'stopped';

const BUSY_PAUSE = 100;

/**
 * The story of a replay: its items one after the other, a few at a time, behind live traffic; every few
 * seconds a sign of life with the progress; until all are done, somebody cancels it, another replica has taken
 * it over, or this one stops, which leaves it to the next.
 */
export async function runReplay(parts: ReplayParts, given: ReplayState, stop: AbortSignal): Promise<RunEnd> {
  const { shelf } = parts;
  const items = await shelf.items(given.replayId);
  const inner = new AbortController();
  const signal = AbortSignal.any([stop, inner.signal]);
  const waiting = remaining(given, items.length);
  let state = given;
  let interruption: 'cancelled' | 'superseded' | null = null;

  async function worker(): Promise<void> {
    while (!signal.aborted) {
      while (parts.busy() && !signal.aborted) await pause(BUSY_PAUSE, signal);
      const index = signal.aborted ? undefined : waiting.shift();
      if (index === undefined) return;
      const result = await parts.work(state, items[index] ?? '', signal).catch(failedWith);
      // What an abort cut short was not worked on: whoever goes on does it again.
      if (signal.aborted && result.failed) return;
      state = withItem(state, index, result.outcome, result.failed);
      parts.onProgress?.(state);
    }
  }

  async function beat(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await pause(parts.heartbeat, over);
      if (over.aborted) return;
      interruption = await lookAround(shelf, state).catch(() => null);
      if (interruption !== null) return inner.abort();
      // A store in trouble is the items' trouble as well; the next beat tells more.
      await shelf.save({ ...state, heartbeatAt: now() }).catch(() => undefined);
    }
  }

  const over = new AbortController();
  const beating = beat(over.signal);
  await Promise.all(Array.from({ length: parts.concurrency }, worker));
  over.abort();
  await beating;
  const finished = state.next >= items.length;
  // The last items may have ended between two beats: what was cancelled meanwhile is not done.
  const end = interruption ?? (finished ? ((await lookAround(shelf, state)) ?? 'done') : 'stopped');
  return conclude(shelf, state, end);
}

/** Who was superseded has nothing to say any more; who stops lets go at once. */
async function conclude(shelf: ReplayShelf, state: ReplayState, end: RunEnd): Promise<RunEnd> {
  if (end === 'done') await shelf.save({ ...state, heartbeatAt: now(), finishedAt: now() });
  else if (end !== 'superseded') await shelf.save({ ...state, heartbeatAt: null });
  return end;
}

function remaining({ next, ahead }: ReplayState, total: number): number[] {
  const indexes: number[] = [];
  for (let index = next; index < total; index += 1) if (!ahead.includes(index)) indexes.push(index);
  return indexes;
}

async function lookAround(
  shelf: ReplayShelf,
  { replayId, claim }: ReplayState,
): Promise<'cancelled' | 'superseded' | null> {
  if (await shelf.isSuperseded(replayId, claim)) return 'superseded';
  return (await shelf.isCancelled(replayId)) ? 'cancelled' : null;
}

function failedWith(): ItemOutcome {
  return { outcome: 'failed', failed: true };
}

function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
}

function now(): string {
  return new Date().toISOString();
}
