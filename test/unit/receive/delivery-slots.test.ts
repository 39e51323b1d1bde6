import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { BodyAbortedError, type RequestBody } from '../../../src/lib/http/request-body.js';
import { Admission, type Slot } from '../../../src/receive/admission.js';

const MIB = 1024 * 1024;
const SMALL = 1000;
const LARGE = 2 * MIB;
const FAST = 5;
const SLOW = 0.9;
const SLOWER = 0.1;

let slots: Admission;
let time: number;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  time = 0;
  slots = new Admission({ maxConcurrent: 8, maxWaiters: 1 }, { waitersFor: () => 0 }, undefined, () => time);
});

afterEach(() => {
  jest.useRealTimers();
});

interface Delivery {
  slot: Slot | null;
  error: Error | null;
  /** Why its body was refused. */
  refusal: Error | null;
  isGone: boolean;
  hasArrived: boolean;
  pace: number;
  bytes: number;
}

/** Leaves its slot when its body is refused, unless it takes its time. */
async function arrive(
  declaredLength: number | null,
  { pace = FAST, leaves = true, bytes = 0, hasArrived = true } = {},
): Promise<Delivery> {
  const delivery: Delivery = {
    slot: null,
    error: null,
    refusal: null,
    isGone: false,
    hasArrived,
    pace,
    bytes,
  };
  const body = {
    get bytes() {
      return delivery.bytes;
    },
    sufficiency: () => delivery.pace,
    fail(error: Error) {
      delivery.refusal = error;
      if (leaves) delivery.slot?.leave();
    },
  };
  slots.enter({ declaredLength, isGone: () => delivery.isGone, hasArrived: () => delivery.hasArrived }).then(
    (slot) => {
      slot.body = body as unknown as RequestBody;
      delivery.slot = slot;
    },
    (error) => {
      delivery.error = error;
    },
  );
  await settle();
  return delivery;
}

async function arriveMany(count: number, ...[declared, options]: Parameters<typeof arrive>) {
  const all: Delivery[] = [];
  for (let n = 0; n < count; n += 1) all.push(await arrive(declared, options));
  return all;
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Time passes in steps of the check. */
async function pass(ms: number): Promise<void> {
  for (let rest = ms; rest > 0; rest -= 250) {
    time += 250;
    jest.advanceTimersByTime(250);
    await settle();
  }
}

const refusedOf = (deliveries: readonly Delivery[]) =>
  deliveries.flatMap(({ refusal }, index) => (refusal === null ? [] : [index]));

const OVERLOADED = expect.objectContaining({ code: 'overloaded', status: 503 });

it('callbacks arrive while one is in flight, and for a second after the last: they come again', async () => {
  expect(slots.isReceiving).toBe(false);
  const [first, last] = await arriveMany(2, SMALL);
  first?.slot?.leave();
  time += 60_000;
  expect(slots.isReceiving).toBe(true);
  last?.slot?.leave();
  time += 999;
  expect([slots.active, slots.isReceiving]).toEqual([0, true]);
  time += 1;
  expect(slots.isReceiving).toBe(false);
});

describe('the shares', () => {
  it('leave a quarter of the slots to bodies up to 1 MiB', async () => {
    const large = await arriveMany(7, LARGE);
    expect(large.map(({ slot }) => slot !== null)).toEqual([true, true, true, true, true, true, false]);
    const small = await arriveMany(3, MIB);
    expect(small.map(({ slot }) => slot !== null)).toEqual([true, true, false]);
    expect(slots.active).toBe(8);
  });

  it('give small bodies all slots that are free', async () => {
    const small = await arriveMany(8, SMALL);
    expect(small.every(({ slot }) => slot !== null)).toBe(true);
  });

  it('count a body of unknown size as small until it has grown', async () => {
    const grown = await arriveMany(6, null);
    for (const delivery of grown) delivery.bytes = LARGE;
    expect((await arrive(LARGE)).slot).toBeNull();
    expect((await arrive(null)).slot).not.toBeNull();
  });

  it('treat a body that outgrew the small share as slow while large ones exceed theirs', async () => {
    await arriveMany(6, LARGE);
    const unknown = await arriveMany(2, null);
    for (const delivery of unknown) delivery.bytes = LARGE;
    const small = await arrive(SMALL);
    await pass(1_000);
    expect(refusedOf(unknown)).toEqual([1]);
    expect(small.slot).not.toBeNull();
  });

  it('do not refuse a body that outgrew the small share when it is fast, or has arrived', async () => {
    await arriveMany(6, LARGE);
    const unknown = await arriveMany(2, null, { pace: Number.POSITIVE_INFINITY });
    for (const delivery of unknown) delivery.bytes = LARGE;
    await arrive(SMALL);
    await pass(5_000);
    expect(refusedOf(unknown)).toEqual([]);
  });
});

describe('the queue', () => {
  it('serves the oldest that has room, and no large body in the small share', async () => {
    const large = await arriveMany(6, LARGE);
    const small = await arriveMany(2, SMALL);
    const largeWaiter = await arrive(LARGE);
    const smallWaiters = await arriveMany(2, SMALL);
    small[0]?.slot?.leave();
    await settle();
    expect([largeWaiter, ...smallWaiters].map(({ slot }) => slot !== null)).toEqual([false, true, false]);
    large[0]?.slot?.leave();
    await settle();
    expect([largeWaiter, ...smallWaiters].map(({ slot }) => slot !== null)).toEqual([true, true, false]);
  });

  it('serves those first whose bodies have arrived, then the oldest', async () => {
    const held = await arriveMany(8, SMALL);
    const slow = await arriveMany(2, SMALL, { hasArrived: false });
    const arrived = await arriveMany(2, SMALL);
    const served: boolean[][] = [];
    for (let n = 0; n < 3; n += 1) {
      held[n]?.slot?.leave();
      await settle();
      served.push([...slow, ...arrived].map(({ slot }) => slot !== null));
    }
    expect(served).toEqual([
      [false, false, true, false],
      [false, false, true, true],
      [true, false, true, true],
    ]);
  });

  it('refuses a delivery after ten seconds', async () => {
    await arriveMany(8, SMALL);
    const waiter = await arrive(SMALL);
    await pass(9_750);
    expect(waiter.error).toBeNull();
    await pass(250);
    expect(waiter.error).toEqual(OVERLOADED);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('has room for three deliveries per slot', async () => {
    await arriveMany(8, SMALL);
    const waiters = await arriveMany(25, SMALL);
    expect(waiters.flatMap(({ error }, index) => (error === null ? [] : [index]))).toEqual([24]);
    expect(waiters[24]?.error).toEqual(OVERLOADED);
  });

  it('refuses the oldest whose body has not arrived when too many wait', async () => {
    await arriveMany(8, SMALL);
    const arrived = await arriveMany(4, SMALL);
    const slow = await arriveMany(20, SMALL, { hasArrived: false });
    const late = await arriveMany(2, SMALL);
    expect([...arrived, ...late].map(({ error }) => error)).toEqual(Array.from({ length: 6 }, () => null));
    expect(slow.flatMap(({ error }, index) => (error === null ? [] : [index]))).toEqual([0, 1]);
    expect(slow[0]?.error).toEqual(OVERLOADED);
  });

  it('forgets a sender that has gone, and refuses nobody for it', async () => {
    const slow = await arriveMany(8, SMALL, { pace: SLOW });
    const waiter = await arrive(SMALL);
    waiter.isGone = true;
    await pass(1_000);
    expect(waiter.error).toBeInstanceOf(BodyAbortedError);
    expect(refusedOf(slow)).toEqual([]);
  });

  it('frees a slot once, however often its delivery leaves', async () => {
    const [first] = await arriveMany(2, SMALL);
    first?.slot?.leave();
    first?.slot?.leave();
    expect(slots.active).toBe(1);
  });
});

describe('the pace', () => {
  it('refuses the slowest sender once a delivery has waited for a second, the youngest of equally slow ones', async () => {
    const held = [
      ...(await arriveMany(5, SMALL)),
      ...(await arriveMany(1, SMALL, { pace: SLOW })),
      ...(await arriveMany(2, SMALL, { pace: SLOWER })),
    ];
    const waiter = await arrive(SMALL);
    await pass(750);
    expect(refusedOf(held)).toEqual([]);
    await pass(250);
    expect(refusedOf(held)).toEqual([7]);
    expect(held[7]?.refusal).toEqual(OVERLOADED);
    expect(waiter.slot).not.toBeNull();
    await pass(10_000);
    expect(refusedOf(held)).toEqual([7]);
  });

  it('refuses one for each delivery that waits, those included that have not left yet', async () => {
    const held = await arriveMany(8, SMALL, { pace: SLOW, leaves: false });
    await arriveMany(2, SMALL);
    await pass(3_000);
    expect(refusedOf(held)).toEqual([6, 7]);
  });

  it('refuses nobody that is fast enough, and nobody while no delivery waits', async () => {
    const held = await arriveMany(8, SMALL, { pace: 1 });
    await arrive(SMALL);
    await pass(10_000);
    expect(refusedOf(held)).toEqual([]);
    for (const delivery of held) delivery.pace = SLOWER;
    await pass(10_000);
    expect(refusedOf(held)).toEqual([]);
  });

  it('reads what arrived during a pause of the process before it judges', async () => {
    const held = await arriveMany(8, SMALL, { pace: SLOWER });
    await arrive(SMALL);
    time += 5_000;
    jest.advanceTimersByTime(250);
    // The event loop reads sockets between timers and `setImmediate`.
    for (const delivery of held) delivery.pace = FAST;
    await settle();
    expect(refusedOf(held)).toEqual([]);
  });

  it('refuses a large body for a large one that finds the large share taken', async () => {
    const large = await arriveMany(6, LARGE, { pace: SLOW });
    const small = await arriveMany(2, SMALL, { pace: SLOWER });
    const waiter = await arrive(LARGE);
    await pass(1_000);
    expect(refusedOf(small)).toEqual([]);
    expect(refusedOf(large)).toEqual([5]);
    expect(waiter.slot).not.toBeNull();
  });
});
