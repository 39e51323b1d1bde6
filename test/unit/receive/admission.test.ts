import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Problem } from '../../../src/domain/problem.js';
import { Admission, type StoreGate } from '../../../src/receive/admission.js';

const LIMITS = { maxConcurrent: 2, maxWaiters: 3 };

function admissionOf({
  waiters = 0,
  failure = null as Problem | null,
  known = null as Promise<void> | null,
} = {}) {
  const state = { waiters, failure, known };
  const asked: (number | null)[] = [];
  const waitersFor = (declared: number | null) => {
    asked.push(declared);
    return state.waiters;
  };
  const gate: StoreGate = {
    get known() {
      return state.known;
    },
    refusal: () => state.failure,
  };
  return { admission: new Admission(LIMITS, { waitersFor }, gate), state, asked };
}

const request = (declaredLength: number | null) => ({
  declaredLength,
  isGone: () => false,
  hasArrived: () => true,
});

const codeOf = (entering: Promise<unknown>) =>
  entering.then(
    () => 'admitted',
    (error: { code: string }) => error.code,
  );

describe('admission', () => {
  it('rejects a delivery that would be one too many in its queue for memory', async () => {
    const { admission, state, asked } = admissionOf({ waiters: 3 });
    expect(await codeOf(admission.enter(request(7)))).toBe('overloaded');
    expect(admission.active).toBe(0);
    state.waiters = 2;
    expect(await codeOf(admission.enter(request(null)))).toBe('admitted');
    expect(asked).toEqual([7, null]);
  });

  it('rejects everything while the store cannot take anything', async () => {
    const { admission, state } = admissionOf({ failure: new Problem('clock', 'wrong') });
    expect(await codeOf(admission.enter(request(1)))).toBe('clock');
    state.failure = null;
    expect(await codeOf(admission.enter(request(1)))).toBe('admitted');
  });

  it('keeps deliveries until it is known whether the store can take them', async () => {
    const { promise: known, resolve: tell } = Promise.withResolvers<void>();
    const { admission, state } = admissionOf({
      known,
      failure: new Problem('store-unavailable', 'not proven'),
    });
    let isGone = false;
    const [kept, left] = [request(1), { ...request(1), isGone: () => isGone }].map((each) =>
      codeOf(admission.enter(each)),
    );
    await turn();
    isGone = true;
    Object.assign(state, { failure: null, known: null });
    tell();
    expect(await kept).toBe('admitted');
    await expect(left).resolves.toBeUndefined();
    expect(admission.active).toBe(1);
  });

  it('rejects everything once it is closed, and resolves when the last delivery has ended', async () => {
    const { admission } = admissionOf();
    await admission.whenEmpty();
    const slots = [await admission.enter(request(1)), await admission.enter(request(1))];
    const waiting = [request(1), request(1)].map((each) => codeOf(admission.enter(each)));
    await turn();
    admission.close();
    expect(await Promise.all(waiting)).toEqual(['draining', 'draining']);
    expect(await codeOf(admission.enter(request(1)))).toBe('draining');
    let empty = 0;
    const waits = [admission.whenEmpty(), admission.whenEmpty()].map((wait) => wait.then(() => (empty += 1)));
    slots[0]?.leave();
    await turn();
    expect(empty).toBe(0);
    slots[1]?.leave();
    await Promise.all(waits);
    expect(empty).toBe(2);
  });
});
