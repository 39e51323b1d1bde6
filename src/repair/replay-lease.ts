import type { ReplayState } from './replay-state.js';

/** Milliseconds without a heartbeat after which another replica may take over a replay. */
export const LEASE = 30_000;

/** Says which replays no replica works on. */
export interface LeaseWatch {
  /** Whether the owner has stopped, or its heartbeat has not changed for a lease since it was first seen. */
  isAbandoned(state: ReplayState): boolean;
  /** Whether a claim that no state has followed was first seen more than a lease ago. */
  isClaimDead(replayId: string, claim: number): boolean;
  forget(replayId: string): void;
}

/**
 * Clocks of replicas differ, at times by an hour, so that the time in a heartbeat means nothing here: a replica is alive
 * as long as its heartbeat changes, by the clock of the replica that watches.
 *
 * @param clock milliseconds that never jump
 */
export function createLeaseWatch(lease: number, clock: () => number = () => performance.now()): LeaseWatch {
  const seen = new Map<string, { readonly sign: string; readonly since: number }>();

  function hasExpired(name: string, sign: string): boolean {
    const last = seen.get(name);
    if (last?.sign === sign) return clock() - last.since > lease;
    seen.set(name, { sign, since: clock() });
    return false;
  }

  return {
    isAbandoned: ({ replayId, claim, heartbeatAt }) =>
      heartbeatAt === null || hasExpired(replayId, `${claim} ${heartbeatAt}`),
    isClaimDead: (replayId, claim) => hasExpired(`${replayId} claim`, String(claim)),
    forget(replayId) {
      seen.delete(replayId);
      seen.delete(`${replayId} claim`);
    },
  };
}
