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
  /** Why every item fails at present, so that the run waits; absent or null while it does not. */
  readonly waitingFor?: string | null;
  /**
   * Sign of life of the owner: changes with every beat, and is null once it let go. Never compared with another clock.
   */
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
  /** Of many named jobs the first; `total` says how many there are. */
  readonly selector: ReplaySelector;
  readonly owner: string;
  readonly waitingFor: string | null;
}

/** Milliseconds without a sign of life after which another replica may take a replay up. */
export const LEASE = 30_000;

/** Named jobs kept in the state, which is written every second; all of them are in the list of items. */
const NAMED_JOBS = 20;

/** The selector as the state keeps it. */
export function shortened(selector: ReplaySelector): ReplaySelector {
  return selector.jobs === undefined ? selector : { ...selector, jobs: selector.jobs.slice(0, NAMED_JOBS) };
}

/**
 * Tells replays that nobody works on. Clocks of replicas differ, by an hour at times: a sign of life is alive as long
 * as it changes, by the clock of whoever looks.
 *
 * @param clock milliseconds that never jump
 */
export function createLifeWatch(lease: number, clock: () => number = () => performance.now()) {
  const seen = new Map<string, { readonly sign: string; readonly since: number }>();
  return {
    /** Whether the run let go, or has given no sign for the lease since it was first looked at. */
    isAbandoned({ replayId, claim, heartbeatAt }: ReplayState): boolean {
      if (heartbeatAt === null) return true;
      const sign = `${claim} ${heartbeatAt}`;
      const last = seen.get(replayId);
      if (last?.sign === sign) return clock() - last.since > lease;
      seen.set(replayId, { sign, since: clock() });
      return false;
    },
    forget: (replayId: string) => void seen.delete(replayId),
  };
}

export type LifeWatch = ReturnType<typeof createLifeWatch>;

/** @param abandoned nobody works on it */
export function viewOf(state: ReplayState, { cancelled, abandoned }: ReplayEnd): ReplayView {
  const { replayId, total, done, failed, outcomes, bytes, createdAt, finishedAt } = state;
  const { actor, reason, selector, owner } = state;
  return {
    replayId,
    state: stateOf(state, { cancelled, abandoned }),
    waitingFor: state.finishedAt === null && !cancelled ? (state.waitingFor ?? null) : null,
    ...{ total, done, failed, outcomes, bytes, createdAt, finishedAt, actor, reason, selector, owner },
  };
}

/** What the state alone does not say. */
export interface ReplayEnd {
  readonly cancelled: boolean;
  readonly abandoned: boolean;
}

function stateOf(state: ReplayState, { cancelled, abandoned }: ReplayEnd): ReplayView['state'] {
  // Somebody was told that it is cancelled, even if its last item ended at that very moment.
  if (cancelled) return 'cancelled';
  if (state.finishedAt !== null) return 'done';
  return abandoned ? 'interrupted' : 'running';
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
