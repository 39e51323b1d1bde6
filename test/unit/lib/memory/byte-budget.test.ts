import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Problem } from '../../../../src/domain/problem.js';
import { type BudgetLease, LeaseClosedError } from '../../../../src/lib/memory/budget-lease.js';
import { ByteBudget } from '../../../../src/lib/memory/byte-budget.js';

const MIB = 1024 * 1024;
const PART = MIB;
/** As configured by default: parts of 8 MiB, a quarter for small bodies. */
const DEFAULTS = { total: 64 * MIB, reserve: 8 * MIB };

function budgetOf({ total, reserve } = DEFAULTS) {
  let time = 0;
  const budget = new ByteBudget({ total, reserve, now: () => time });
  return {
    budget,
    /** The process is stopped meanwhile. */
    elapse(seconds: number): void {
      time += seconds * 1000;
    },
    pass(seconds: number): void {
      time += seconds * 1000;
      budget.checkWaiters();
    },
  };
}

/** A delivery of which `bytes` came within `seconds` of its sender's time, in memory of its own; more is not asked for. */
async function fill(
  { budget, pass }: ReturnType<typeof budgetOf>,
  { expected = null as number | null, bytes, seconds, memory = bytes }: FillOrder,
) {
  const lease = budget.lease({ expected });
  pass(seconds);
  lease.fillRate.received(bytes);
  await taken(lease, memory);
  const refusals: Problem[] = [];
  lease.onRefused = (problem) => {
    refusals.push(problem);
    lease.close();
    lease.give(lease.held);
  };
  return { lease, refusals };
}

interface FillOrder {
  readonly expected?: number | null;
  readonly bytes: number;
  readonly seconds: number;
  readonly memory?: number;
}

/** Takes all memory of the large share and fills it at once. */
async function fillUp(at: ReturnType<typeof budgetOf>, seconds = 0) {
  const filled: Awaited<ReturnType<typeof fill>>[] = [];
  for (let left = 40 * MIB - at.budget.used; left > 0; left -= 8 * MIB)
    filled.push(await fill(at, { bytes: 8 * MIB, seconds }));
  return filled;
}

/** Takes bytes that are free: a wrong count fails here, and does not wait. */
async function taken(lease: BudgetLease, bytes: number): Promise<void> {
  const taking = watched(lease.take(bytes));
  await settle();
  expect(taking.now).toBe('served');
}

/** Takes all that is free, and no more than there is. */
function takeAll(budget: ByteBudget, lease: BudgetLease, step: number): void {
  for (let bytes = 0; lease.tryTake(step); bytes += step) expect(bytes).toBeLessThan(budget.total);
}

/** What became of a promise so far. */
function watched(promise: Promise<unknown>) {
  const state = { now: 'waiting' as 'waiting' | 'served' | Error };
  promise.then(
    () => {
      state.now = 'served';
    },
    (error: Error) => {
      state.now = error;
    },
  );
  return state;
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('the byte budget', () => {
  it('keeps a share for bodies up to 1 MiB that larger ones never take', async () => {
    const at = budgetOf();
    await fillUp(at);
    const large = at.budget.lease({ expected: 20 * MIB });
    await taken(large, 8 * MIB); // the reserve
    expect(at.budget.lease({ expected: 20 * MIB }).tryTake(1)).toBe(false);
    const small = Array.from({ length: 15 }, () => at.budget.lease({ expected: MIB }));
    expect(small.map((lease) => lease.tryTake(MIB))).toEqual(small.map(() => true));
  });

  it('lets small bodies use free memory of the large share unless large ones wait for it', async () => {
    const at = budgetOf();
    const small = Array.from({ length: 40 }, () => at.budget.lease({ expected: MIB }));
    for (const lease of small) await taken(lease, MIB);
    const first = at.budget.lease({ expected: 20 * MIB });
    const second = at.budget.lease({ expected: 20 * MIB });
    takeAll(at.budget, first, 4 * MIB); // what small bodies left
    await taken(first, 8 * MIB); // the reserve
    const waiting = watched(second.take(8 * MIB));
    expect(at.budget.lease({ expected: MIB }).tryTake(64 * 1024)).toBe(false);
    for (const lease of small.slice(0, 24)) lease.give(MIB);
    await settle();
    expect(waiting.now).toBe('served');
    expect(at.budget.lease({ expected: MIB }).tryTake(64 * 1024)).toBe(true);
  });

  it('moves a body of unknown size out of the small share when it turns out large', async () => {
    const at = budgetOf();
    const growing = at.budget.lease();
    growing.fillRate.received(MIB);
    await taken(growing, MIB);
    growing.fillRate.received(MIB);
    await taken(growing, MIB);
    await fillUp(at);
    void at.budget.lease({ expected: 20 * MIB }).take(8 * MIB);
    const small = Array.from({ length: 15 }, () => at.budget.lease({ expected: MIB }));
    expect(small.every((lease) => lease.tryTake(MIB))).toBe(true);
  });

  it('refuses leases that fill too slowly while others wait, the slowest first, and no more than needed', async () => {
    const at = budgetOf();
    const slow = [
      await fill(at, { bytes: 6 * MIB, seconds: 40, memory: 8 * MIB }),
      await fill(at, { bytes: 2 * MIB, seconds: 40, memory: 8 * MIB }),
      await fill(at, { bytes: 5 * MIB, seconds: 40, memory: 8 * MIB }),
    ];
    const fast = [
      await fill(at, { bytes: 8 * MIB, seconds: 1 }),
      await fill(at, { bytes: 8 * MIB, seconds: 1 }),
    ];
    await fill(at, { bytes: 8 * MIB, seconds: 1 }); // the reserve
    const waiter = at.budget.lease({ expected: 20 * MIB });
    const waiting = watched(waiter.take(64 * 1024));
    at.pass(0.5);
    expect(slow.map(({ refusals }) => refusals.length)).toEqual([0, 0, 0]);
    at.pass(1);
    await settle();
    expect(slow.map(({ refusals }) => refusals.length)).toEqual([0, 1, 0]);
    expect(slow[1]?.refusals[0]).toMatchObject({ code: 'overloaded', status: 503 });
    expect(waiting.now).toBe('served');
    expect(fast.flatMap(({ refusals }) => refusals)).toEqual([]);
    await expect(slow[1]?.lease.take(1)).rejects.toMatchObject({ code: 'overloaded' });
  });

  it('refuses at once what all need that have waited for a second', async () => {
    const at = budgetOf();
    const slow = [];
    for (let n = 0; n < 55; n++) slow.push(await fill(at, { bytes: MIB, seconds: 20, expected: MIB }));
    const fast = Array.from({ length: 5 }, () => watched(at.budget.lease({ expected: MIB }).take(MIB)));
    at.pass(1);
    await settle();
    expect(fast.map(({ now }) => now)).toEqual(fast.map(() => 'served'));
    expect(slow.flatMap(({ refusals }) => refusals)).toHaveLength(4); // and the reserve
  });

  it('refuses no slow lease for the wait of one that it refuses', async () => {
    const at = budgetOf();
    const half = MIB / 2;
    const slow = [];
    for (let n = 0; n < 110; n++) slow.push(await fill(at, { bytes: half, seconds: 20, expected: MIB }));
    const waits = slow.map(({ lease }) => watched(lease.take(half)));
    const fast = watched(at.budget.lease({ expected: MIB }).take(MIB));
    at.pass(1);
    await settle();
    expect(fast.now).toBe('served');
    expect(slow.flatMap(({ refusals }) => refusals)).toHaveLength(56); // of 110
    const ended = waits.flatMap(({ now }) => (now instanceof Error ? [now] : []));
    expect(ended).toMatchObject(Array(55).fill({ code: 'overloaded' })); // one was served before
    expect(at.budget.waiters).toBe(0);
  });

  it('counts the memory of refused leases before it refuses more', async () => {
    const at = budgetOf();
    const slow = [
      await fill(at, { bytes: 4 * MIB, seconds: 40, memory: 8 * MIB }),
      await fill(at, { bytes: 5 * MIB, seconds: 40, memory: 8 * MIB }),
    ];
    for (const { lease, refusals } of slow) lease.onRefused = (problem) => refusals.push(problem);
    await fillUp(at, 1);
    await fill(at, { bytes: 8 * MIB, seconds: 1 }); // the reserve
    const waiting = watched(at.budget.lease({ expected: 20 * MIB }).take(8 * MIB));
    for (let n = 0; n < 8; n++) at.pass(0.3);
    await settle();
    expect(slow.map(({ refusals }) => refusals.length)).toEqual([0, 1]);
    expect(waiting.now).toBe('waiting');
  });

  it('refuses those that have outgrown the small share and wait elsewhere, for small bodies that wait', async () => {
    const at = budgetOf();
    await fillUp(at);
    const grown = [];
    for (let n = 0; n < 16; n++) {
      const one = await fill(at, { bytes: MIB, seconds: 0 });
      one.lease.fillRate.received(1);
      grown.push({ ...one, waiting: watched(one.lease.take(8 * MIB)) });
    }
    await settle();
    expect(grown.filter(({ waiting }) => waiting.now === 'served')).toHaveLength(1); // by the reserve
    const transcript = at.budget.lease({ expected: 128 * 1024 });
    const waiting = watched(transcript.take(128 * 1024));
    at.pass(0.9);
    expect(waiting.now).toBe('waiting');
    at.pass(0.2);
    await settle();
    expect(waiting.now).toBe('served');
    expect(grown.flatMap(({ refusals }) => refusals)).toHaveLength(1);
  });

  it('times out a wait for the first byte, and no other', async () => {
    const at = budgetOf();
    await fillUp(at);
    await fill(at, { bytes: 8 * MIB, seconds: 0 }); // the reserve
    const begun = at.budget.lease({ expected: MIB * 20, firstByteTimeout: 10_000 });
    const first = watched(begun.take(8 * MIB));
    const holder = await fill(at, { bytes: 64 * 1024, seconds: 0 });
    const more = watched(holder.lease.take(8 * MIB));
    at.pass(9.9);
    await settle();
    expect([first.now, more.now, at.budget.waiters]).toEqual(['waiting', 'waiting', 2]);
    at.pass(0.1);
    await settle();
    expect(first.now).toMatchObject({ code: 'overloaded', status: 503 });
    expect([more.now, at.budget.waiters]).toEqual(['waiting', 1]);
  });

  it('takes what was set aside for no byte of the body: its first chunk is ahead of the queue, and a wait for it times out', async () => {
    const at = budgetOf();
    const begin = () => at.budget.lease({ expected: 20 * MIB, firstByteTimeout: 10_000 });
    const oldest = begin();
    const early = begin();
    const late = begin();
    expect([early, late].map((lease) => lease.setAside(4 * MIB))).toEqual([true, true]);
    const filled = await fillUp(at);
    await fill(at, { bytes: 8 * MIB, seconds: 0 }); // the reserve
    const head = watched(oldest.take(8 * MIB));
    const first = watched(early.take(64 * 1024));
    const none = watched(late.take(8 * MIB));
    filled[0]?.lease.give(4 * MIB);
    await settle();
    expect([first.now, head.now]).toEqual(['served', 'waiting']);
    at.pass(10);
    await settle();
    expect(none.now).toMatchObject({ code: 'overloaded', status: 503 });
    for (const lease of [early, late]) lease.giveAside();
    expect([early.held, late.held]).toEqual([64 * 1024, 0]);
  });

  it('serves the oldest delivery first, whenever it began to wait', async () => {
    const at = budgetOf();
    const filled = await fillUp(at);
    await fill(at, { bytes: 8 * MIB, seconds: 0 }); // the reserve
    const [older, younger] = [
      at.budget.lease({ expected: 20 * MIB }),
      at.budget.lease({ expected: 20 * MIB }),
    ];
    const second = watched(younger.take(8 * MIB));
    const first = watched(older.take(8 * MIB));
    filled[0]?.lease.give(8 * MIB);
    await settle();
    expect([first.now, second.now]).toEqual(['served', 'waiting']);
  });

  it('counts the waiters of the queue that a new lease would join', async () => {
    const at = budgetOf();
    await fillUp(at);
    await fill(at, { bytes: 8 * MIB, seconds: 0 }); // the reserve
    const gone = at.budget.lease({ expected: 20 * MIB });
    gone.take(8 * MIB).catch(() => undefined);
    expect([20 * MIB, MIB, null].map((size) => at.budget.waitersFor(size))).toEqual([1, 0, 0]);
    gone.close();
    expect(at.budget.waitersFor(20 * MIB)).toBe(0);
  });

  it('releases discardable memory only where a lease waits for it', async () => {
    const at = budgetOf();
    const small = await fill(at, { expected: MIB, bytes: MIB, seconds: 0 });
    const [large] = await fillUp(at);
    await fill(at, { bytes: 8 * MIB, seconds: 0 }); // the reserve
    const discardableOf = (lease: BudgetLease) => ({
      bytes: MIB,
      release() {
        if (this.bytes > 0) lease.give(MIB);
        this.bytes = 0;
      },
    });
    if (large) large.lease.discardable = discardableOf(large.lease);
    small.lease.discardable = discardableOf(small.lease);
    const waiting = watched(at.budget.lease({ expected: 20 * MIB }).take(MIB));
    await settle();
    expect(waiting.now).toBe('served');
    expect([large?.lease.discardable?.bytes, small.lease.discardable.bytes]).toEqual([0, MIB]);
  });

  it('ends the wait of a lease that closes, and counts what it holds until that is given back', async () => {
    const budget = new ByteBudget({ total: 2 * PART, reserve: PART });
    const holder = budget.lease();
    const reserver = budget.lease();
    const waiter = budget.lease();
    takeAll(budget, holder, PART / 4); // the common pool
    await taken(reserver, PART);
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

  it('serves a small body before older ones that lack more, but none that began ten seconds earlier', async () => {
    const at = budgetOf();
    const filled = await fillUp(at);
    // A part for the oldest large one, all of the small share, and its reserve.
    await fill(at, { bytes: 8 * MIB, seconds: 0 });
    for (let n = 0; n < 16; n += 1) await taken(at.budget.lease({ expected: MIB }), MIB);
    const order: string[] = [];
    const join = (name: string) => {
      const lease = at.budget.lease({ expected: name === 'transcript' ? 64 * 1024 : MIB });
      void lease.take(64 * 1024).then(() => order.push(name));
    };
    join('ten seconds older');
    at.elapse(10);
    join('older');
    join('transcript');
    for (const { lease } of filled) lease.give(8 * MIB);
    await settle();
    expect(order).toEqual(['ten seconds older', 'transcript', 'older']);
  });

  it('does not let a younger delivery overtake the head of the queue', async () => {
    const budget = new ByteBudget({ total: 2 * PART, reserve: PART });
    const holder = budget.lease();
    const reserver = budget.lease();
    await taken(holder, (PART * 3) / 4);
    await taken(reserver, PART); // the reserve
    const older = budget.lease();
    const head = watched(budget.lease().take(PART / 2));
    expect(budget.lease().tryTake(64 * 1024 + 1)).toBe(false);
    const behind = watched(budget.lease().take(PART / 8));
    await settle();
    expect(behind.now).toBe('waiting');
    expect(older.tryTake(1)).toBe(true);
    reserver.give(PART);
    await settle();
    expect(head.now).toBe('served');
  });

  it('gives large deliveries their first chunk ahead of the queue, up to a sixteenth of the budget', async () => {
    const at = budgetOf();
    const filled = await fillUp(at);
    await fill(at, { bytes: 8 * MIB, seconds: 0 }); // the reserve
    const head = watched(at.budget.lease({ expected: 20 * MIB }).take(8 * MIB));
    const begin = () => at.budget.lease({ expected: 20 * MIB, firstByteTimeout: 10_000 });
    const early = begin();
    const first = watched(early.take(64 * 1024));
    filled[0]?.lease.give(4 * MIB);
    await settle();
    expect([first.now, head.now]).toEqual(['served', 'waiting']);
    expect(early.tryTake(1)).toBe(false);
    const others = Array.from({ length: 63 }, begin);
    expect(others.every((lease) => lease.tryTake(64 * 1024))).toBe(true);
    expect(begin().tryTake(64 * 1024)).toBe(false);
    filled[1]?.lease.give(8 * MIB);
    await settle();
    expect(head.now).toBe('served');
  });

  it('leaves what older deliveries need to fill their parts, but not what their senders are slow to send', async () => {
    const at = budgetOf();
    const older: BudgetLease[] = [];
    for (let n = 0; n < 5; n++) {
      const { lease } = await fill(at, { expected: 20 * MIB, bytes: 64 * 1024, seconds: 0.005 });
      older.push(lease);
    }
    const younger = at.budget.lease({ expected: 20 * MIB });
    expect(younger.tryTake(128 * 1024)).toBe(false);
    expect(older.every((lease) => lease.tryTake(8 * MIB - 64 * 1024))).toBe(true);
    for (const lease of older) {
      lease.give(8 * MIB - 64 * 1024);
      lease.fillRate.awaitSender();
    }
    at.pass(10);
    expect(younger.tryTake(8 * MIB)).toBe(true);
  });

  it('leaves nothing for older deliveries whose senders stall or drip after a fast beginning', async () => {
    const at = budgetOf();
    const older: BudgetLease[] = [];
    for (let n = 0; n < 5; n++) {
      const sent = { bytes: 200 * MIB, seconds: 2, memory: 8 * MIB };
      const { lease } = await fill(at, { expected: 2000 * MIB, ...sent });
      lease.flushed();
      lease.give(8 * MIB);
      older.push(lease);
    }
    for (const { fillRate } of older) fillRate.awaitSender();
    const younger = at.budget.lease({ expected: 20 * MIB });
    expect(younger.tryTake(8 * MIB)).toBe(false);
    for (let second = 0; second < 3; second++) {
      at.pass(1);
      for (const { fillRate } of older.slice(0, 2)) {
        fillRate.received(1);
        fillRate.awaitSender();
      }
    }
    expect(younger.tryTake(8 * MIB)).toBe(true);
  });

  it('leaves nothing for older deliveries while they wait for the store', async () => {
    const at = budgetOf();
    const older: BudgetLease[] = [];
    for (let n = 0; n < 4; n++)
      older.push((await fill(at, { expected: 2000 * MIB, bytes: 8 * MIB, seconds: 0.1 })).lease);
    for (const lease of older) {
      lease.flushed();
      lease.fillRate.awaitSender();
    }
    await taken(at.budget.lease({ expected: 20 * MIB }), 8 * MIB); // the reserve
    const younger = watched(at.budget.lease({ expected: 20 * MIB }).take(8 * MIB));
    await settle();
    expect(younger.now).toBe('waiting');
    for (const lease of older) lease.flushed();
    await settle();
    expect(younger.now).toBe('served');
  });

  it('refuses a stalled holder of the reserve also when older deliveries are about to fill what is free', async () => {
    const at = budgetOf();
    for (let n = 0; n < 5; n++) await fill(at, { expected: 20 * MIB, bytes: 64 * 1024, seconds: 0 });
    const stalled = await fill(at, { expected: 20 * MIB, bytes: 8 * MIB - 1, seconds: 1 }); // the reserve
    stalled.lease.fillRate.awaitSender();
    const waiting = watched(at.budget.lease({ expected: 20 * MIB }).take(8 * MIB));
    at.pass(2.9);
    await settle();
    expect([waiting.now, stalled.refusals.length]).toEqual(['waiting', 0]);
    at.pass(0.1);
    await settle();
    expect(stalled.refusals).toHaveLength(1);
    expect(waiting.now).toBe('served');
  });

  it('never lends more than its reserve, however often the head of the queue takes', async () => {
    const budget = new ByteBudget({ total: 2 * PART, reserve: PART });
    const holder = budget.lease();
    takeAll(budget, holder, PART); // the common pool
    const head = budget.lease();
    await taken(head, PART);
    expect(budget.used).toBe(2 * PART);
    expect(head.tryTake(1)).toBe(false);
    const more = watched(head.take(1));
    await settle();
    expect(more.now).toBe('waiting');
    head.give(PART);
    await settle();
    expect(more.now).toBe('served');
    expect(head.held).toBe(1);
  });

  it('refuses slow leases one second after the longest wait began, also when others joined since', async () => {
    const at = budgetOf();
    const slow = await fill(at, { bytes: MIB, seconds: 60, memory: 8 * MIB });
    await fillUp(at);
    void at.budget.lease({ expected: 20 * MIB }).take(8 * MIB); // the reserve
    const first = watched(at.budget.lease({ expected: 20 * MIB }).take(8 * MIB));
    at.pass(0.9);
    const second = watched(at.budget.lease({ expected: 20 * MIB }).take(8 * MIB));
    expect(slow.refusals).toHaveLength(0);
    at.pass(0.2);
    await settle();
    expect(slow.refusals).toHaveLength(1);
    expect([first.now, second.now]).toEqual(['served', 'waiting']);
  });

  it('refuses to take back more than was taken', () => {
    const lease = new ByteBudget({ total: 4 * PART, reserve: PART }).lease();
    lease.tryTake(2);
    expect(() => lease.give(3)).toThrow(RangeError);
    expect(lease.held).toBe(2);
  });

  it('has to hold two parts', () => {
    expect(() => new ByteBudget({ total: 2 * PART - 1, reserve: PART })).toThrow('cannot hold two parts');
    expect(new ByteBudget({ total: 2 * PART, reserve: PART }).total).toBe(2 * PART);
  });

  it('refuses a take that no reserve could ever satisfy', async () => {
    const budget = new ByteBudget({ total: 4 * PART, reserve: PART });
    expect(budget.lease().tryTake(2 * PART)).toBe(true);
    await expect(budget.lease().take(2 * PART)).rejects.toThrow(RangeError);
  });

  it('never deadlocks, starves or loses a byte, whatever grows beside whatever', async () => {
    const size = fc.constantFrom(1, 40_000, 108_000, 300_000, MIB, MIB + 1, 3 * MIB, 9 * MIB, 20 * MIB);
    const delivery = fc.record({
      size,
      announced: fc.boolean(),
      chunk: fc.constantFrom(64 * 1024, 100_000, MIB),
      gone: fc.option(fc.nat({ max: 20 }), { freq: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(delivery, { minLength: 1, maxLength: 24 }),
        fc.constantFrom(24, 32, 64),
        async (plans, total) => {
          const at = budgetOf({ total: total * MIB, reserve: 8 * MIB });
          let most = 0;
          const look = () => {
            most = Math.max(most, at.budget.used);
          };
          const uploads = Promise.all(plans.map((plan) => upload(at.budget, plan, look)));
          const outcomes = await Promise.race([uploads, endOfTurns()]);
          expect(outcomes).toEqual(plans.map(({ gone }) => (gone === null ? 'stored' : expect.anything())));
          expect(most).toBeLessThanOrEqual(at.budget.total);
          expect([at.budget.used, at.budget.waiters]).toEqual([0, 0]);
          const whole = at.budget.lease({ expected: 20 * MIB });
          expect(whole.tryTake((total - 8) * MIB - Math.min(total / 4, total - 16) * MIB)).toBe(true);
          whole.give(whole.held);
        },
      ),
      { numRuns: 100 },
    );
  });
});

/** Rejects once all uploads would long have ended: each of their steps takes one turn. */
async function endOfTurns(): Promise<never> {
  for (let turn = 0; turn < 1000; turn++) await settle();
  throw new Error('some still wait for memory');
}

interface Plan {
  readonly size: number;
  readonly announced: boolean;
  readonly chunk: number;
  readonly gone: number | null;
}

/** As a delivery does: grows in steps up to a part, hands that on, goes on; or its sender leaves after some chunks. */
async function upload(budget: ByteBudget, plan: Plan, look: () => void): Promise<'stored' | 'gone'> {
  const lease = budget.lease({ expected: plan.announced ? plan.size : null });
  let came = 0;
  let part = 0;
  let paid = 0;
  let chunks = 0;
  const handOn = async () => {
    const bytes = paid;
    [part, paid] = [0, 0];
    await settle();
    lease.give(bytes);
  };
  const leaving = plan.gone === null ? null : setImmediate(() => lease.close());
  try {
    while (came < plan.size) {
      if (chunks++ === plan.gone) lease.close();
      const bytes = Math.min(plan.chunk, plan.size - came, 8 * MIB - part);
      lease.fillRate.received(bytes);
      const needed = part + bytes;
      const size = Math.min(8 * MIB, 2 ** Math.ceil(Math.log2(needed)));
      if (size > paid) await lease.take(size - paid);
      look();
      [came, part, paid] = [came + bytes, needed, Math.max(paid, size)];
      if (part === 8 * MIB) await handOn();
      lease.fillRate.awaitSender();
    }
    lease.fillRate.complete();
    await handOn();
    return 'stored';
  } catch (error) {
    if (!(error instanceof LeaseClosedError)) throw error;
    lease.give(lease.held);
    return 'gone';
  } finally {
    if (leaving !== null) clearImmediate(leaving);
    lease.close();
  }
}
