import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type BudgetLease, createByteBudget, LeaseClosedError } from '../../../src/store/byte-budget.js';

const PART = 1024 * 1024;

describe('the byte budget', () => {
  it('hands out what it has and counts it', () => {
    const budget = createByteBudget({ total: 4 * PART, reserve: PART });
    const lease = budget.lease();
    expect(lease.tryTake(PART)).toBe(true);
    expect(budget.used).toBe(PART);
    lease.give(PART);
    expect(budget.used).toBe(0);
  });

  it('makes a large take wait and serves it when another gives back', async () => {
    const budget = createByteBudget({ total: 4 * PART, reserve: PART });
    const [first, second, third] = [budget.lease(), budget.lease(), budget.lease()];
    await first.take(PART);
    await second.take(PART);
    await third.take(PART); // the reserve: it is the oldest waiter
    const fourth = budget.lease();
    const waiting = fourth.take(PART);
    expect(budget.waiters).toBe(1);
    first.give(PART);
    await waiting;
    expect(budget.waiters).toBe(0);
  });

  it('lets small takes use the headroom that large ones must leave', () => {
    const budget = createByteBudget({ total: 4 * PART, reserve: PART });
    const large = budget.lease();
    while (large.tryTake(PART / 2)) {
      // spends all that large takes may have
    }
    expect(budget.lease().tryTake(16 * 1024)).toBe(true);
  });

  it('ends the wait of a lease that closes, and counts what it holds until that is given back', async () => {
    const budget = createByteBudget({ total: 2 * PART, reserve: PART });
    const [holder, reserver, waiter] = [budget.lease(), budget.lease(), budget.lease()];
    while (holder.tryTake(PART / 4)) {
      // spends the common pool
    }
    await reserver.take(PART);
    const ended = expect(waiter.take(PART)).rejects.toBeInstanceOf(LeaseClosedError);
    waiter.close();
    await ended;
    for (const lease of [holder, reserver]) {
      const before = budget.used;
      lease.close();
      expect(budget.used).toBe(before);
      expect(lease.tryTake(1)).toBe(false);
      lease.give(lease.held);
    }
    expect(budget.used).toBe(0);
    expect(budget.waiters).toBe(0);
  });

  it('refuses a take that no reserve could ever satisfy', async () => {
    const budget = createByteBudget({ total: 4 * PART, reserve: PART });
    expect(budget.lease().tryTake(2 * PART)).toBe(true);
    await expect(budget.lease().take(2 * PART)).rejects.toThrow(RangeError);
  });

  it('never deadlocks: uploads that fill a part piece by piece, then give it back, all end', async () => {
    const uploads = fc.array(
      fc.array(fc.integer({ min: 1, max: PART / 4 }), { minLength: 1, maxLength: 12 }),
      {
        minLength: 1,
        maxLength: 24,
      },
    );
    await fc.assert(
      fc.asyncProperty(uploads, async (plans) => {
        const budget = createByteBudget({ total: 2 * PART, reserve: PART });
        let most = 0;
        await Promise.all(
          plans.map((pieces) => upload(budget.lease(), pieces, () => (most = Math.max(most, budget.used)))),
        );
        expect(most).toBeLessThanOrEqual(budget.total);
        expect(budget.used).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

/** Behaves as a delivery does: gathers up to a part, and gives it back before it asks for more than a part. */
async function upload(lease: BudgetLease, pieces: readonly number[], look: () => void): Promise<void> {
  let gathered = 0;
  for (const piece of pieces) {
    if (gathered + piece > PART) {
      lease.give(gathered);
      gathered = 0;
    }
    await lease.take(piece);
    gathered += piece;
    look();
    await Promise.resolve();
  }
  lease.close();
  lease.give(gathered);
}
