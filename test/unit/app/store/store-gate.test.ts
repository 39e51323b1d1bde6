import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createStoreGate } from '../../../../src/app/store/store-health.js';
import type { StoreCondition } from '../../../../src/store/store-remedies.js';

function gateOf() {
  const state = {
    proven: false,
    writable: true,
    condition: null as StoreCondition | null,
    offset: 0,
  };
  const { promise: tried, resolve: endFirst } = Promise.withResolvers<void>();
  const gate = createStoreGate(
    tried,
    () => state.proven,
    {
      get complaint() {
        return { condition: state.condition, reason: 'of a test', refused: false, at: 0 };
      },
      isWritable: () => state.writable,
    },
    { clockOffset: () => state.offset },
  );
  return { gate, state, endFirst };
}

describe('the gate before the store', () => {
  it('is unknown until the store was tried for the first time', async () => {
    const { gate, endFirst } = gateOf();
    const waiting = gate.known;
    expect(waiting).not.toBeNull();
    endFirst();
    await waiting;
    await turn();
    expect(gate.known).toBeNull();
    expect(gate.refusal()).toMatchObject({ code: 'store-unavailable' });
  });

  it('is closed where a try would only wait, lose something, or be refused by the ledger', () => {
    const { gate, state } = gateOf();
    state.proven = true;
    expect(gate.refusal()).toBeNull();
    for (const condition of ['unreachable', 'overwrites'] as const) {
      Object.assign(state, { condition, writable: true });
      expect(gate.refusal()).toBeNull();
      state.writable = false;
      expect(gate.refusal()).toMatchObject({ code: 'store-unavailable' });
    }
    for (const condition of ['denied', 'full', 'missing', null] as const) {
      state.condition = condition;
      expect(gate.refusal()).toBeNull();
    }
    state.proven = false;
    expect(gate.refusal()).toMatchObject({ code: 'store-unavailable' });
    state.proven = true;
    state.offset = 16 * 60_000;
    expect(gate.refusal()).toMatchObject({ code: 'clock' });
  });
});
