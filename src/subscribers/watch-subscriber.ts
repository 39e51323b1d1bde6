import { setTimeout as sleep } from 'node:timers/promises';
import { createLeaseWatch, LEASE } from '../store/lease-watch.js';
import { beginningOf } from './follow/ledger-follower.js';
import type { OutboxObserver } from './outbox-observer.js';
import { newOutboxState, type OutboxState } from './outbox-state.js';
import { createOutboxStore } from './outbox-store.js';
import { SubscriberRun, type SubscriberRunOptions } from './subscriber-run.js';

interface SubscriberWatchOptions extends Omit<SubscriberRunOptions, 'states' | 'observer' | 'onError'> {
  /** Name of this replica. */
  readonly owner: string;
  readonly observer: OutboxObserver;
  /** Milliseconds without a heartbeat after which another replica takes over. Default 30,000. */
  readonly lease?: number | undefined;
}

export type SubscriberWatch = ReturnType<typeof watchSubscriber>;

/** Sends to a subscriber as long as no other replica does. */
export function watchSubscriber(options: SubscriberWatchOptions) {
  const { name, store, owner, observer, lease = LEASE, clock, times } = options;
  const stopping = new AbortController();
  const leases = createLeaseWatch(lease);
  const states = createOutboxStore(store, name);
  const onError = (error: unknown, hour: string | null) => observer.delayed(name, error, hour);
  let run: SubscriberRun | null = null;
  let hasTriedClaim = false;

  async function claimAndRun(): Promise<void> {
    const state = (await states.read()) ?? (await begin());
    const isFirst = !hasTriedClaim;
    if ((await states.isSuperseded(state.claim)) && (await skipDeadClaim(state, isFirst))) return;
    const seen = isFirst && state.owner === owner ? { ...state, heartbeatAt: null } : state;
    const claimed = await takeOver(seen);
    hasTriedClaim = true;
    if (claimed === null) return;
    if (stopping.signal.aborted) return states.save({ ...claimed, heartbeatAt: null });
    run = new SubscriberRun({ ...options, states, observer: observer.events(name), onError }, claimed);
    observer.sending(name, true);
    await run.ended;
    run = null;
    leases.forget(name);
    observer.sending(name, false);
  }

  /** Null while the owner is alive, and when another replica was faster. */
  async function takeOver(state: OutboxState): Promise<OutboxState | null> {
    const last = leases.isAbandoned(name, state) ? await states.claim(state, owner) : null;
    if (last === null) return null;
    const claimed = { ...last, claim: last.claim + 1, owner, heartbeatAt: new Date().toISOString() };
    await states.save(claimed);
    await states.deleteOtherBatches(claimed).catch(() => undefined);
    return claimed;
  }

  /** Skips a claim whose replica died before it saved a state: a claim stops its predecessor, so otherwise no replica would send. */
  async function skipDeadClaim(state: OutboxState, isFirst: boolean): Promise<boolean> {
    const claim = state.claim + 1;
    if (!leases.isClaimDead(name, claim)) {
      // An earlier process of this replica name died and does not come back.
      const isOwn = isFirst && (await states.claimant(claim)) === owner;
      if (!isOwn) return false;
    }
    await states.save({ ...state, claim, heartbeatAt: null });
    return true;
  }

  async function begin(): Promise<OutboxState> {
    const beginning = await beginningOf(store, clock());
    return newOutboxState(clock(), beginning);
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await claimAndRun().catch((error: unknown) => onError(error, null));
      if (stopping.signal.aborted) return;
      await sleep(times.poll, null, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
  }

  const watching = watch();
  return {
    /** Null while another replica sends. */
    run: () => run,
    async stop(): Promise<void> {
      stopping.abort();
      await run?.stop();
      await watching;
    },
  };
}
