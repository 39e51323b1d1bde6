import { describe, expect, it } from '@jest/globals';
import { BlockedKeyError, StoreError } from '../../../../src/store/object-store.js';
import { createPlaceProofs } from '../../../../src/store/probe/place-proofs.js';

const HOUR = 3_600_000;

function proofsOf(...prefixes: string[]) {
  const faults = new Map<string, Error>();
  const proven: string[] = [];
  const changes: string[][] = [];
  let now = 0;
  const proofs = createPlaceProofs({
    places: prefixes.map((prefix) => ({
      prefix,
      async prove() {
        proven.push(prefix);
        const fault = faults.get(prefix);
        if (fault) throw fault;
      },
    })),
    provenFor: HOUR,
    interval: 5000,
    clock: () => now,
    onChange: (failures) => changes.push(failures.map(({ place }) => place.prefix)),
  });
  return {
    proofs,
    faults,
    changes,
    pass: (ms: number) => {
      now += ms;
    },
    /** Proven since the last look. */
    seen: () => proven.splice(0),
    failing: () => proofs.failures().map(({ place }) => place.prefix),
  };
}

const denied = new StoreError('create', 'access denied', { condition: 'denied' });

describe('the places that callbacks use', () => {
  it('are proven at the start and hourly, unless something was written there', async () => {
    const { proofs, pass, seen } = proofsOf('jobs/', 'ledger/');
    await proofs.check();
    expect(seen()).toEqual(['jobs/', 'ledger/']);
    pass(HOUR - 1);
    await proofs.check();
    expect(seen()).toEqual([]);
    proofs.called('ledger/dt=1/x', 'written');
    pass(1);
    await proofs.check();
    expect(seen()).toEqual(['jobs/']);
  });

  it('are proven again after a failed call, at most once in a while, and while they fail', async () => {
    const { proofs, faults, pass, seen, failing, changes } = proofsOf('jobs/', 'ledger/');
    await proofs.check();
    seen();
    expect(proofs.called('jobs/a', 'failed')).toBe(false);
    pass(5000);
    expect(proofs.called('jobs/a', 'failed')).toBe(true);
    expect(proofs.called('elsewhere/a', 'failed')).toBe(false);
    faults.set('jobs/', denied);
    await proofs.check();
    expect([seen(), failing()]).toEqual([['jobs/'], ['jobs/']]);
    pass(10_000);
    await proofs.check();
    expect([seen(), failing()]).toEqual([['jobs/'], ['jobs/']]);
    expect(proofs.failures()).toEqual([
      { place: expect.anything(), reason: 'create: access denied', condition: 'denied', since: 5000 },
    ]);
    faults.clear();
    await proofs.check();
    expect([seen(), failing()]).toEqual([['jobs/'], []]);
    expect(changes).toEqual([['jobs/'], []]);
  });

  it('are not well because something was written: reads may be denied', async () => {
    const { proofs, faults, failing } = proofsOf('jobs/');
    await proofs.check();
    faults.set('jobs/', new BlockedKeyError('prove', 'a link'));
    proofs.called('jobs/a', 'failed');
    proofs.called('jobs/b', 'written');
    await proofs.check();
    expect(failing()).toEqual(['jobs/']);
    proofs.called('jobs/b', 'written');
    expect(failing()).toEqual(['jobs/']);
  });

  it('fail only for the second time when it may pass by itself', async () => {
    const { proofs, faults, failing } = proofsOf('jobs/');
    faults.set('jobs/', new StoreError('create', 'no answer', { condition: 'unreachable' }));
    await proofs.check();
    expect(failing()).toEqual([]);
    await proofs.check();
    expect(failing()).toEqual(['jobs/']);
  });

  it('knows whether a place was proven after a moment', async () => {
    const { proofs, pass } = proofsOf('jobs/', 'ledger/');
    expect(proofs.provenSince('ledger/', -1)).toBe(false);
    await proofs.check();
    expect([proofs.provenSince('ledger/', -1), proofs.provenSince('ledger/', 0)]).toEqual([true, false]);
    pass(10);
    proofs.called('ledger/dt=1/x', 'written');
    expect([proofs.provenSince('ledger/', 0), proofs.provenSince('jobs/', 0)]).toEqual([true, false]);
    expect(proofs.provenSince('elsewhere/', -1)).toBe(false);
  });
});
