import { describe, expect, it } from '@jest/globals';
import { createAdmission } from '../../../src/receiver/admission.js';

const LIMITS = { maxConcurrent: 2, maxWaiters: 3 };

function admissionOf({ waiters = 0, trouble = null as string | null } = {}) {
  const state = { waiters, trouble };
  const asked: (number | null)[] = [];
  const waitersFor = (declared: number | null) => {
    asked.push(declared);
    return state.waiters;
  };
  return { admission: createAdmission(LIMITS, { waitersFor }, () => state.trouble), state, asked };
}

const codeOf = (enter: () => unknown) => {
  try {
    enter();
    return 'admitted';
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('admission', () => {
  it('admits so many deliveries at a time, and others once one has left', () => {
    const { admission } = admissionOf();
    const leave = admission.enter(1);
    admission.enter(null);
    expect(codeOf(() => admission.enter(1))).toBe('overloaded');
    expect(admission.active).toBe(2);
    leave();
    leave();
    expect(admission.active).toBe(1);
    expect(codeOf(() => admission.enter(1))).toBe('admitted');
  });

  it('rejects a delivery that would be one too many in its queue for memory', () => {
    const { admission, state, asked } = admissionOf({ waiters: 3 });
    expect(codeOf(() => admission.enter(7))).toBe('overloaded');
    expect(admission.active).toBe(0);
    state.waiters = 2;
    expect(codeOf(() => admission.enter(null))).toBe('admitted');
    expect(asked).toEqual([7, null]);
  });

  it('rejects everything while the store cannot take anything', () => {
    const { admission, state } = admissionOf({ trouble: 'the store does not respond' });
    expect(codeOf(() => admission.enter(1))).toBe('store-unavailable');
    state.trouble = null;
    expect(codeOf(() => admission.enter(1))).toBe('admitted');
  });

  it('rejects everything once it is closed, and resolves when the last delivery has ended', async () => {
    const { admission } = admissionOf();
    await admission.whenEmpty();
    const leaves = [admission.enter(1), admission.enter(1)];
    admission.close();
    expect(codeOf(() => admission.enter(1))).toBe('draining');
    let empty = 0;
    const waits = [admission.whenEmpty(), admission.whenEmpty()].map((wait) => wait.then(() => (empty += 1)));
    leaves[0]?.();
    await new Promise((resolve) => setImmediate(resolve));
    expect(empty).toBe(0);
    leaves[1]?.();
    await Promise.all(waits);
    expect(empty).toBe(2);
  });
});
