import type { ReplaySelector } from './replay-selector.js';

/** How far a replay got: the document at `replays/<id>.json`, written by the one who runs it. */
export interface ReplayState {
  readonly v: 1;
  readonly replayId: string;
  readonly createdAt: string;
  readonly actor: string;
  readonly reason: string | null;
  readonly selector: ReplaySelector;
  readonly total: number;
  readonly bytes: number;
  /** Items before this one have been worked on, and of the later ones those in `ahead`. */
  readonly next: number;
  readonly ahead: readonly number[];
  /** Items that went well, and that did not. */
  readonly done: number;
  readonly failed: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** Which take-over is at work, from 1; each is claimed by one replica only. */
  readonly claim: number;
  readonly owner: string;
  /** Sign of life of the owner; null once it let go. */
  readonly heartbeatAt: string | null;
  readonly finishedAt: string | null;
}

/** A replay as operators see it. */
export interface ReplayView {
  readonly replayId: string;
  /** `interrupted` is taken up again by any replica. */
  readonly state: 'running' | 'done' | 'cancelled' | 'interrupted';
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly bytes: number;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly actor: string;
  readonly reason: string | null;
  readonly selector: ReplaySelector;
  readonly owner: string;
}

/** Milliseconds without a sign of life after which another replica may take a replay up. */
export const LEASE = 30_000;

export function isAbandoned({ heartbeatAt }: ReplayState, now: number, lease: number): boolean {
  return heartbeatAt === null || now - Date.parse(heartbeatAt) > lease;
}

export function viewOf(state: ReplayState, cancelled: boolean, now: number, lease: number): ReplayView {
  const { replayId, total, done, failed, outcomes, bytes, createdAt, finishedAt } = state;
  const { actor, reason, selector, owner } = state;
  return {
    replayId,
    state: stateOf(state, cancelled, now, lease),
    ...{ total, done, failed, outcomes, bytes, createdAt, finishedAt, actor, reason, selector, owner },
  };
}

function stateOf(state: ReplayState, cancelled: boolean, now: number, lease: number): ReplayView['state'] {
  // Somebody was told that it is cancelled, even if its last item ended at that very moment.
  if (cancelled) return 'cancelled';
  if (state.finishedAt !== null) return 'done';
  return isAbandoned(state, now, lease) ? 'interrupted' : 'running';
}

/** The state after an item was worked on. */
export function withItem(state: ReplayState, index: number, outcome: string, failed: boolean): ReplayState {
  const ahead = new Set([...state.ahead, index]);
  let next = state.next;
  while (ahead.delete(next)) next += 1;
  return {
    ...state,
    next,
    ahead: [...ahead],
    done: state.done + (failed ? 0 : 1),
    failed: state.failed + (failed ? 1 : 0),
    outcomes: { ...state.outcomes, [outcome]: (state.outcomes[outcome] ?? 0) + 1 },
  };
}
