import { setTimeout as sleep } from 'node:timers/promises';
import { OutageWatch, type WorkedItem } from './replay-outage.js';
import { type ReplayState, withItem } from './replay-state.js';
import type { ReplayFailure, ReplayShelf } from './replay-store.js';

/** What became of one item. */
export interface ItemOutcome {
  readonly outcome: string;
  readonly failed: boolean;
  /** Why it failed, in words; null when it did not, or nothing is known. */
  readonly reason: string | null;
  /** The job behind the item. */
  readonly jobId: string;
  /** The ledger has a line of the failure already. */
  readonly recorded?: true;
}

export interface ReplayParts {
  readonly shelf: ReplayShelf;
  /** Works on one item. Harmless when repeated: after an interruption the last few come again. */
  readonly work: (state: ReplayState, item: string, signal: AbortSignal) => Promise<ItemOutcome>;
  /** Makes a failure known beyond the replay: in the ledger and in the log. */
  readonly onFailed: (state: ReplayState, item: string, result: ItemOutcome) => Promise<void>;
  /** Whether live traffic needs what a replay would take. */
  readonly busy: () => boolean;
  /** Items worked on at once. */
  readonly concurrency: number;
  /** Milliseconds between signs of life, which also carry the progress. */
  readonly heartbeat: number;
  /** Milliseconds before an item is tried again after everything failed for one reason; doubled up to a minute. Default 5,000. */
  readonly outagePause?: number | undefined;
  readonly onProgress?: ((state: ReplayState) => void) | undefined;
}

/** How a run ended; only `done` ends the replay for good. */
export type RunEnd = 'done' | 'cancelled' | 'superseded' | 'stopped';

const BUSY_PAUSE = 100;
const LONGEST_PAUSE = 60_000;
/** Failures in a row, all for one reason, that make an outage. */
const OUTAGE_AFTER = 5;

/**
 * The story of a replay: work on the items a few at a time, behind live traffic; name each that failed; wait
 * while all fail for one reason; save the progress every few seconds as a sign of life; until all are done, an
 * operator cancels it, another replica takes it over, or this one stops and leaves it to the next.
 */
export async function runReplay(parts: ReplayParts, given: ReplayState, stop: AbortSignal): Promise<RunEnd> {
  const { shelf } = parts;
  const items = await shelf.items(given.replayId);
  const inner = new AbortController();
  const signal = AbortSignal.any([stop, inner.signal]);
  const waiting = remaining(given, items.length);
  const outage = new OutageWatch(OUTAGE_AFTER);
  const progress = await createProgress(parts, given, items);
  let interruption: 'cancelled' | 'superseded' | null = null;
  let probing = false;
  let probes = 0;

  /** During an outage one item is tried at a time. False when there is nothing to do but to look again. */
  async function mayWork(): Promise<boolean> {
    if (outage.cause === null) {
      probes = 0;
      return true;
    }
    if (probing) {
      await pause(BUSY_PAUSE, signal);
      return false;
    }
    probing = true;
    await pause(pauseOf(parts, probes), signal);
    probes += 1;
    return true;
  }

  async function worker(): Promise<void> {
    while (!signal.aborted && waiting.length > 0) {
      if (parts.busy()) await pause(BUSY_PAUSE, signal);
      else if (await mayWork()) await workOnNext();
    }
  }

  async function workOnNext(): Promise<void> {
    const index = signal.aborted ? undefined : waiting.shift();
    if (index !== undefined) {
      const item = items[index] ?? '';
      const result = await parts.work(progress.state, item, signal).catch((error) => failedWith(item, error));
      // What an abort cut short was not worked on: whoever goes on does it again.
      if (signal.aborted && result.failed) return;
      const { settled, again } = outage.see({ index, result });
      waiting.unshift(...again);
      progress.waitFor(outage.cause);
      for (const worked of settled) await progress.count(worked);
    }
    probing = false;
  }

  async function beat(over: AbortSignal): Promise<void> {
    while (!over.aborted) {
      await pause(parts.heartbeat, over);
      if (over.aborted) return;
      interruption = await lookAround(shelf, progress.state).catch(() => null);
      if (interruption !== null) return inner.abort();
      // A store in trouble is the items' trouble as well; the next beat tells more.
      await progress.save({ heartbeatAt: now() }).catch(() => undefined);
    }
  }

  const over = new AbortController();
  const beating = beat(over.signal);
  await Promise.all(Array.from({ length: parts.concurrency }, worker));
  over.abort();
  await beating;
  if (!signal.aborted) for (const worked of outage.flush()) await progress.count(worked);
  const finished = progress.state.next >= items.length;
  // The last items may have ended between two beats: what was cancelled meanwhile is not done.
  const end = interruption ?? (finished ? ((await lookAround(shelf, progress.state)) ?? 'done') : 'stopped');
  // A superseded run must not write state. A stopped run clears its sign of life so that another goes on at once.
  if (end === 'done') await progress.save({ heartbeatAt: now(), finishedAt: now() });
  else if (end !== 'superseded') await progress.save({ heartbeatAt: null });
  return end;
}

/** How far a run is; what failed is kept beside the state, so that the state stays small. */
async function createProgress(parts: ReplayParts, given: ReplayState, items: readonly string[]) {
  const { shelf } = parts;
  let state: ReplayState = { ...given, waitingFor: null };
  let unsaved: ReplayFailure[] = [];
  // A run that died may have named items that nobody counted. They come again, and may go well this time.
  const named = new Set((await shelf.failures(given.replayId)).map(({ item }) => item));
  let batch = 0;

  return {
    get state() {
      return state;
    },
    waitFor(cause: string | null) {
      if (state.waitingFor === cause) return;
      state = { ...state, waitingFor: cause };
      parts.onProgress?.(state);
    },
    async count({ index, result }: WorkedItem) {
      const { outcome, failed, reason, jobId } = result;
      const item = items[index] ?? '';
      const entry = { item, jobId, outcome, reason, failed };
      if (failed) await parts.onFailed(state, item, result);
      if (failed || named.has(item)) unsaved.push(entry);
      state = withItem(state, index, outcome, failed);
      parts.onProgress?.(state);
    },
    /** Failures first: what the state counts can be named. */
    async save(change: Partial<ReplayState>) {
      const saved = { ...state, ...change };
      const entries = unsaved;
      if (entries.length > 0) {
        batch += 1;
        await shelf.addFailures(state.replayId, state.claim, batch, entries);
        unsaved = unsaved.slice(entries.length);
      }
      await shelf.save(saved);
    },
  };
}

function pauseOf({ outagePause = 5000 }: ReplayParts, probes: number): number {
  return Math.min(outagePause * 2 ** Math.min(probes, 16), LONGEST_PAUSE);
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

function failedWith(item: string, error: unknown): ItemOutcome {
  const reason = error instanceof Error ? error.message : String(error);
  return { outcome: 'failed', failed: true, reason, jobId: item };
}

function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
}

function now(): string {
  return new Date().toISOString();
}
