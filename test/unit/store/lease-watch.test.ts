import { describe, expect, it } from '@jest/globals';
import { createLeaseWatch } from '../../../src/store/lease-watch.js';

describe('a lease', () => {
  it.each([
    ['an hour ahead', 3_600_000],
    ['right', 0],
    ['an hour behind', -3_600_000],
  ])('ends a lease after the last change of the heartbeat, when the clock of its owner is %s', (_, skew) => {
    let now = 0;
    const leases = createLeaseWatch(30_000, () => now);
    const state = () => ({
      claim: 1,
      heartbeatAt: new Date(Date.UTC(2026, 2, 4) + skew + now).toISOString(),
    });
    for (; now < 120_000; now += 20_000) expect(leases.isAbandoned('r', state())).toBe(false);
    const last = state();
    expect(leases.isAbandoned('r', last)).toBe(false);
    now += 30_000;
    expect(leases.isAbandoned('r', last)).toBe(false);
    now += 1;
    expect(leases.isAbandoned('r', last)).toBe(true);
    expect(leases.isAbandoned('r', { ...last, claim: 2 })).toBe(false);
    expect(leases.isAbandoned('r', { ...last, heartbeatAt: null })).toBe(true);
  });

  it('ends for a claim without a state a lease after it was first seen', () => {
    let now = 0;
    const leases = createLeaseWatch(30_000, () => now);
    expect(leases.isClaimDead('r', 2)).toBe(false);
    now = 30_001;
    expect(leases.isClaimDead('r', 2)).toBe(true);
    expect(leases.isClaimDead('r', 3)).toBe(false);
    leases.forget('r');
    expect(leases.isClaimDead('r', 3)).toBe(false);
  });
});
