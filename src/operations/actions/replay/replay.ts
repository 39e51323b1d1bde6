import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';
import { commonReason } from '../../../domain/failure-causes.js';
import { isOfJob } from '../../../recovery/reconcile/recovery-errors.js';
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
/** Items that all fail for one reason, from which on it may be an outage: the key is refused, or the service is down. */
const OUTAGE = 5;
/** Milliseconds from the order on during which outages are waited for. */
const PATIENCE = 86_400_000;

/**
 * Works through the list of a replay, from the first item that was not counted yet: a stretch at a time, and only while callbacks
 * do not need the memory. Every item may be worked on again, so that a replica that goes on after another, and two that do so at
 * once, do no harm.
 *
 * Ends when all items are done, an operator cancels the replay, another replica goes on with it, `stop` aborts, or nothing
 * succeeds for one reason: these failures do not count, because going on would only use up the list.
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
  let state: ReplayState = { ...found, owner, waitingFor: null };
  let interruption: RunEnd | null = null;
  /** Results of items that were worked on before their turn, and did not fail. */
  const ahead = new Map<string, ReplayItemResult>();

  const position = () => state.done + state.failed;

  function change(to: ReplayState): void {
    state = to;
    onProgress(state);
  }

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
    const size = Math.max(4 * recovery.concurrency, OUTAGE);
    const stretch = items.slice(position(), position() + size);
    const first = await workOn(stretch);
    if (mayBeOutage(first)) {
      const last = await workOnLast(items.slice(position() + size));
      const waitingFor = commonCause([...first, ...last]);
      if (waitingFor !== null && !signal.aborted) return change({ ...state, waitingFor });
    }
    // What failed may have failed by an outage that has ended meanwhile.
    const results = await Promise.all(
      first.map((result, at) => (causeOf(result) === null ? result : limit(() => work(stretch[at] ?? '')))),
    );
    const aborted = signal.aborted ? results.findIndex(({ failed }) => failed) : -1;
    await count(stretch, aborted === -1 ? results : results.slice(0, aborted));
  }

  function workOn(some: readonly string[]): Promise<ReplayItemResult[]> {
    return limit.map(some, async (item) => ahead.get(item) ?? work(item));
  }

  function work(item: string): Promise<ReplayItemResult> {
    return workOnItem(parts, state, item, signal);
  }

  function mayBeOutage(results: readonly ReplayItemResult[]): boolean {
    const hasPatience = Date.now() - Date.parse(state.createdAt) <= PATIENCE;
    return results.length >= OUTAGE && commonCause(results) !== null && hasPatience;
  }

  /** Items that fail by themselves can be in a row, so that the last ones behind them are tried before an outage is believed. */
  async function workOnLast(rest: readonly string[]): Promise<ReplayItemResult[]> {
    const last = rest.filter((item) => !ahead.has(item)).slice(-OUTAGE);
    if (last.length === 0) return [...ahead.values()];
    const tried = await workOn(last);
    for (const [index, item] of last.entries()) {
      const result = tried[index];
      if (result?.failed === false) ahead.set(item, result);
    }
    return tried;
  }

  async function count(stretch: readonly string[], results: readonly ReplayItemResult[]): Promise<void> {
    const failures = results.flatMap(({ failed, ...result }, index) =>
      failed ? [{ ...result, item: stretch[index] ?? '' }] : [],
    );
    await Promise.all(failures.map((failure) => recordItemFailure(parts, state, failure)));
    change(results.reduce((before, result, index) => withItem(before, stretch[index] ?? '', result), state));
  }

  const ended = new AbortController();
  if (found.owner !== owner) await save(now());
  const heartbeats = sendHeartbeats(ended.signal);
  try {
    // What the other replica did last is not in the index of this one yet: a body that it released would be released again.
    if (found.owner !== owner) await parts.notify.view.refresh();
    while (!signal.aborted && state.waitingFor === null && position() < items.length) {
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

/** Null when anything succeeds, and when the items do not all fail for one reason. */
function commonCause(results: readonly ReplayItemResult[]): string | null {
  const [cause = null, ...others] = new Set(results.map(causeOf));
  return others.length > 0 ? null : cause;
}

/** Null for a result that does not come from an outage. */
function causeOf({ outcome, reason, jobId }: ReplayItemResult): string | null {
  return outcome !== 'failed' || reason === null || isOfJob(reason) ? null : commonReason(reason, jobId);
}

/** Ends early, and never rejects, when the signal aborts. */
function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
}

function now(): string {
  return new Date().toISOString();
}
