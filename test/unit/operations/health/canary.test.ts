import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Canary } from '../../../../src/operations/health/canary.js';
import { createReplicaReportsReader } from '../../../../src/operations/health/replica-reports.js';
import { StoreError, StoreGoneError } from '../../../../src/store/object-store.js';
import type { StoreCondition } from '../../../../src/store/store-remedies.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

/** What the store itself says. */
function refused(condition: StoreCondition): StoreError {
  return new StoreError('replace', `it is ${condition}`, { condition });
}

function failAfterFirst({ replace }: ReturnType<typeof createMemoryStore>): typeof replace {
  let calls = 0;
  return (...given) => {
    calls += 1;
    return calls === 1 ? replace(...given) : Promise.reject(refused('denied'));
  };
}

describe('canary', () => {
  it('is not writable before the first check, and says so', () => {
    const canary = new Canary({ store: createMemoryStore(), replica: 'r' });
    expect(canary.status()).toEqual({
      writable: false,
      lastSuccessAt: null,
      reason: 'the store has not been checked yet',
      condition: null,
      latencyMs: null,
    });
  });

  it('is writable after bytes came back as written, below a key of its replica', async () => {
    const store = createMemoryStore();
    const canary = new Canary({ store, replica: 'pod/1', clock: () => 5000 });
    expect(await canary.check()).toEqual({
      writable: true,
      lastSuccessAt: 5000,
      reason: null,
      condition: null,
      latencyMs: 0,
    });
    const [key = ''] = store.objects.keys();
    expect(key).toMatch(/^\.canary\/pod-1-[0-9a-f]{8}$/);
    const first = store.objects.get(key)?.body.toString();
    await canary.check();
    expect(store.objects.get(key)?.body.toString()).not.toBe(first);
  });

  it('leaves no silent replica behind where it cannot be deleted', async () => {
    let now = 1_000_000;
    const memory = createMemoryStore(undefined, () => now);
    const store = { ...memory, delete: () => Promise.reject(new Error('denied')) };
    const [first, second] = ['first', 'second'].map(
      (replica) => new Canary({ store, replica, report: () => [], clock: () => now }),
    );
    await first?.check();
    await first?.stop();
    now += 600_000;
    await second?.check();
    const { reports, silent } = await createReplicaReportsReader(store, 10_000, () => now)();
    expect(reports.map(({ key }) => key)).toEqual([second?.key]);
    expect(silent).toEqual([]);
  });

  it('tolerates failures until the last success is too old, and reports the cause meanwhile', async () => {
    let fail = false;
    let now = 1000;
    const store = createMemoryStore((operation) => {
      if (fail && operation === 'replace') throw new Error('disk full');
    });
    const canary = new Canary({ store, replica: 'r', clock: () => now });
    await canary.check();
    fail = true;
    now = 30_900;
    expect(await canary.check()).toMatchObject({ writable: true, reason: 'disk full' });
    now = 31_000;
    expect(canary.status()).toMatchObject({ writable: false, lastSuccessAt: 1000, reason: 'disk full' });
    fail = false;
    expect(await canary.check()).toMatchObject({ writable: true, reason: null });
  });

  it('is writable after another write, although the last check was refused', async () => {
    const store = createMemoryStore((operation) => {
      if (operation === 'replace') throw refused('denied');
    });
    const canary = new Canary({ store, replica: 'r' });
    expect(await canary.check()).toMatchObject({ writable: false });
    const well = createMemoryStore();
    let wroteAt = Number.NEGATIVE_INFINITY;
    const failing = { ...well, replace: failAfterFirst(well) };
    const once = new Canary({ store: failing, replica: 'r', lastWrite: () => wroteAt });
    await once.check();
    expect(await once.check()).toMatchObject({ writable: false, condition: 'denied' });
    wroteAt = performance.now();
    expect(once.status()).toMatchObject({ writable: true, condition: 'denied' });
  });

  it('is not writable while the store replaces what is there, whatever else is written', async () => {
    let isWeak = false;
    const memory = createMemoryStore();
    const store = {
      ...memory,
      async create(key: string, body: Buffer, headers: Parameters<typeof memory.create>[2]) {
        if (!isWeak) return memory.create(key, body, headers);
        await memory.replace(key, body, headers);
        return 'created' as const;
      },
    };
    const canary = new Canary({ store, replica: 'r', lastWrite: () => performance.now() });
    for (let n = 0; n < 4; n += 1) expect(await canary.check()).toMatchObject({ writable: true });
    isWeak = true;
    await canary.check();
    for (let n = 0; n < 3; n += 1) {
      expect(await canary.check()).toMatchObject({ writable: false, condition: 'overwrites' });
    }
    isWeak = false;
    expect(await canary.check()).toMatchObject({ writable: true, condition: null });
    const accepted = new Canary({ store, replica: 'r', needsConditions: false });
    isWeak = true;
    for (let n = 0; n < 4; n += 1) expect(await accepted.check()).toMatchObject({ writable: true });
  });

  it('takes a canary that somebody removed for that', async () => {
    const memory = createMemoryStore();
    const store = {
      ...memory,
      async create(...given: Parameters<typeof memory.create>) {
        if (memory.calls.filter(({ operation }) => operation === 'create').length === 0)
          memory.objects.delete(given[0]);
        return memory.create(...given);
      },
    };
    const canary = new Canary({ store, replica: 'r' });
    await canary.check();
    expect(await canary.check()).toMatchObject({ writable: true });
  });

  it('is not disturbed by another process of the same name', async () => {
    const store = createMemoryStore();
    const [one, other] = ['same', 'same'].map((replica) => new Canary({ store, replica }));
    await one?.check();
    await other?.check();
    expect(store.objects.size).toBe(2);
    await other?.stop();
    expect(store.objects.size).toBe(1);
  });

  it('reports once that the store fails, in which way, and that it has recovered', async () => {
    const faults = [null, 'full', 'full', null, null, 'unreachable', 'full'] as (StoreCondition | null)[];
    const said: (string | null)[] = [];
    const store = createMemoryStore((operation) => {
      const fault = operation === 'replace' ? faults.shift() : null;
      if (fault) throw refused(fault);
    });
    const canary = new Canary({
      store,
      replica: 'r',
      onChange: (failure) => said.push(failure?.condition ?? null),
    });
    while (faults.length > 0) await canary.check();
    expect(said).toEqual(['full', null, 'unreachable', 'full']);
  });

  it.each([
    ['other bytes', 'the canary reads back differently'],
    ['nothing', 'the canary was written but is not there'],
  ])('is not fooled by a store that reads back %s', async (what, reason) => {
    const memory = createMemoryStore();
    const store = {
      ...memory,
      replace: async (key: string) => (what === 'nothing' ? undefined : memory.put(key, 'stale')),
    };
    const canary = new Canary({ store, replica: 'r' });
    expect(await canary.check()).toMatchObject({ writable: false, reason });
  });

  it('fails a check that hangs, and does not pile up behind it', async () => {
    const { promise: hang, resolve: release } = Promise.withResolvers<void>();
    const store = createMemoryStore((operation) => (operation === 'replace' ? hang : undefined));
    // A slow machine must not take the call for one that never ends.
    const canary = new Canary({ store, replica: 'r', timeout: 20, clock: () => 0 });

    const [one, two] = await Promise.all([canary.check(), canary.check()]);
    expect(one).toEqual(two);
    expect(one).toMatchObject({ writable: false, reason: 'the store did not answer within 20 ms' });
    expect(await canary.check()).toMatchObject({ writable: false });
    expect(store.calls.filter((call) => call.operation === 'replace')).toHaveLength(1);

    release();
    await new Promise(setImmediate);
    expect(await canary.check()).toMatchObject({ writable: true });
  });

  it('times out a call that never ends', async () => {
    let now = 0;
    let calls = 0;
    const store = createMemoryStore((operation) => {
      if (operation !== 'replace') return undefined;
      calls += 1;
      return calls === 1 ? new Promise<void>(() => {}) : undefined;
    });
    const canary = new Canary({ store, replica: 'r', timeout: 20, clock: () => now });
    expect(await canary.check()).toMatchObject({ writable: false });
    now = 120;
    expect(await canary.check()).toMatchObject({ writable: true });
  });

  it('checks on its interval until stopped', async () => {
    const { promise: checked, resolve: third } = Promise.withResolvers<void>();
    let writes = 0;
    const store = createMemoryStore((operation) => {
      if (operation === 'replace') writes += 1;
      if (writes === 3) third();
    });
    const canary = new Canary({ store, replica: 'r', interval: 1 });
    canary.start();
    canary.start();
    await checked;
    await canary.stop();
    expect(store.objects.size).toBe(0);
    await canary.check();
    const after = store.calls.length;
    await new Promise((resolve) => setTimeout(resolve, 15));
    expect(store.calls).toHaveLength(after);
  });

  it('keeps its report where the store replaces it', async () => {
    const store = createMemoryStore();
    const canary = new Canary({
      store: {
        ...store,
        async create(...given) {
          await store.replace(...given);
          return 'created';
        },
      },
      replica: 'r',
      report: () => ['an issue'],
    });
    await canary.check();
    expect(await canary.check()).toMatchObject({ condition: 'overwrites' });
    const [written] = store.objects.values();
    expect(JSON.parse(String(written?.body))).toMatchObject({ report: ['an issue'] });
  });

  it('fails while the store is not the one that it should be, whatever is written meanwhile', async () => {
    let fault: Error | null = null;
    const canary = new Canary({
      store: createMemoryStore(),
      replica: 'r',
      lastWrite: () => performance.now(),
      async identify() {
        if (fault !== null) throw fault;
      },
    });
    await canary.check();
    fault = new StoreGoneError('the bucket holds no store');
    await canary.check();
    expect(canary.status()).toMatchObject({ writable: false, condition: 'missing' });
    expect(await canary.check()).toMatchObject({ writable: false, condition: 'missing' });
    fault = null;
    expect(await canary.check()).toMatchObject({ writable: true, reason: null });
  });
});

describe('canary on its interval', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it.each([
    [0, true],
    [1, false],
  ])(
    'beside a store that hangs is writable for 30 s after the last success, %i ms later %s',
    async (later, writable) => {
      let hangs = false;
      const store = createMemoryStore(() => (hangs ? new Promise(() => {}) : undefined));
      const canary = new Canary({ store, replica: 'r', clock: Date.now });
      canary.start();
      await jest.advanceTimersByTimeAsync(0);
      hangs = true;
      await jest.advanceTimersByTimeAsync(29_999 + later);
      expect(canary.status().writable).toBe(writable);
    },
  );

  it('stays writable over one check that is not answered in time', async () => {
    let hangs = false;
    const held: (() => void)[] = [];
    const store = createMemoryStore(() => (hangs ? new Promise((done) => held.push(done)) : undefined));
    const canary = new Canary({ store, replica: 'r', clock: Date.now });
    canary.start();
    await jest.advanceTimersByTimeAsync(0);
    hangs = true;
    await jest.advanceTimersByTimeAsync(20_001);
    expect(canary.status().reason).toMatch(/did not answer/);
    hangs = false;
    for (const done of held) done();
    for (let second = 0; second < 20; second += 1) {
      await jest.advanceTimersByTimeAsync(1_000);
      expect(canary.status().writable).toBe(true);
    }
  });

  it('writes its report again soon after a failure: what it wrote then was of before', async () => {
    let writes = 0;
    const store = createMemoryStore((operation) => {
      if (operation !== 'replace') return;
      writes += 1;
      if (writes === 2) throw new Error('no space');
    });
    const canary = new Canary({ store, replica: 'r', report: () => canary.status().reason });
    canary.start();
    for (const [passed, report] of [
      [10_000, 'the store has not been checked yet'],
      [5_000, 'no space'],
      [1_000, null],
    ] as const) {
      await jest.advanceTimersByTimeAsync(passed);
      expect(JSON.parse(String([...store.objects.values()][0]?.body)).report).toBe(report);
    }
  });
});
