/** Milliseconds without a heartbeat after which another replica may take over work. */
export const LEASE = 30_000;

/** Claim of a replica in the state of work that only one replica at a time may do. */
export interface Claimed {
  /** Number of the claim, from 1; each belongs to one replica. */
  readonly claim: number;
  readonly owner: string;
  /**
   * Changes with every save, and is null once the owner has stopped. Never compared with another replica's clock.
   */
  readonly heartbeatAt: string | null;
}

/**
 * Detects work whose replica has died.
 *
 * Clocks of replicas differ, at times by an hour, so the time in a heartbeat is not compared: a replica is alive as long as
 * its heartbeat changes, by the clock of the watching replica.
 *
 * @param clock milliseconds that never jump
 */
export function createLeaseWatch(lease: number, clock: () => number = () => performance.now()) {
  const seen = new Map<string, { readonly sign: string; readonly since: number }>();

  function hasExpired(name: string, sign: string): boolean {
    const last = seen.get(name);
    if (last?.sign === sign) return clock() - last.since > lease;
    seen.set(name, { sign, since: clock() });
    return false;
  }

  return {
    /** Whether the owner has stopped, or its heartbeat has not changed for a lease since it was first seen. */
    isAbandoned: (name: string, { claim, heartbeatAt }: Pick<Claimed, 'heartbeatAt'> & Partial<Claimed>) =>
      heartbeatAt === null || hasExpired(name, `${claim} ${heartbeatAt}`),
    /** Whether a claim without a state was first seen more than a lease ago. */
    isClaimDead: (name: string, claim: number) => hasExpired(`${name} claim`, String(claim)),
    forget(name: string): void {
      seen.delete(name);
      seen.delete(`${name} claim`);
    },
  };
}
