import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { parseSegmentKey } from '../../../../src/ledger/segment-key.js';
import { createLedger } from '../../../../src/ledger/write/ledger.js';
import type { SegmentInfo } from '../../../../src/ledger/write/segment-writer.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';

function linesIn(store: MemoryStore): LedgerLine[] {
  return [...store.objects.values()].flatMap((stored) =>
    stored.body
      .toString()
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text) as LedgerLine),
  );
}

/** Holds every `create`, so that a test decides when a write ends. */
function createDoor() {
  const waiting: { open: () => void; fail: (error: unknown) => void }[] = [];
  let arrived = () => {};
  return {
    pass: (operation: string) =>
      operation !== 'create'
        ? Promise.resolve()
        : new Promise<void>((open, fail) => {
            waiting.push({ open, fail });
            arrived();
          }),
    async next() {
      if (waiting.length === 0) await new Promise<void>((resolve) => (arrived = resolve));
      const first = waiting.shift();
      if (!first) throw new Error('no create is waiting');
      return first;
    },
  };
}

const WRITTEN = Date.parse('2026-03-04T05:59:59.999Z');

describe('ledger', () => {
  it('writes a line as one NDJSON object in the hour of its writing', async () => {
    const store = createMemoryStore();
    const segments: SegmentInfo[] = [];
    const ledger = createLedger({
      store,
      replica: 'a b/c',
      clock: () => WRITTEN,
      onSegment: [(info) => segments.push(info)],
    });
    const line = ledgerLine({ receivedAt: '2026-03-03T23:59:59.999Z' });

    await ledger.append(line);

    const [key, stored] = [...store.objects][0] ?? [];
    expect(key).toMatch(/^ledger\/dt=2026-03-04\/hour=05\/[0-9A-HJKMNP-TV-Z]{26}-a-b-c~00000001\.ndjson$/);
    expect(stored?.body.toString()).toBe(`${JSON.stringify(line)}\n`);
    expect(stored?.headers.contentType).toBe('application/x-ndjson');
    expect(segments).toEqual([{ key, lines: 1, bytes: stored?.body.length, durationMs: expect.any(Number) }]);
  });

  it('resolves only after the segment is durable, and queues the next one meanwhile', async () => {
    const door = createDoor();
    const store = createMemoryStore(door.pass);
    const ledger = createLedger({ store, replica: 'r' });
    const settled: string[] = [];
    const append = (name: string) => ledger.append(ledgerLine()).then(() => settled.push(name));

    const first = append('first');
    const write = await door.next();
    const others = [append('second'), append('third')];
    await sleep(5);
    expect(settled).toEqual([]);

    write.open();
    await first;
    expect(settled).toEqual(['first']);
    (await door.next()).open();
    await Promise.all(others);
    expect(store.objects.size).toBe(2);
  });

  it('rejects exactly the lines of a failed segment and continues', async () => {
    const door = createDoor();
    const store = createMemoryStore(door.pass);
    const ledger = createLedger({ store, replica: 'r' });

    const doomed = [ledger.append(ledgerLine()), ledger.append(ledgerLine())];
    const write = await door.next();
    const later = ledger.append(ledgerLine({ jobId: 'later' }));
    write.fail(new StoreError('create', 'timed out'));
    const results = await Promise.allSettled(doomed);
    (await door.next()).open();
    await later;

    expect(results.map((result) => result.status === 'rejected' && result.reason.message)).toEqual([
      'create: timed out',
      'create: timed out',
    ]);
    expect(linesIn(store).map((line) => line.jobId)).toEqual(['later']);
  });

  it('counts a write whose response was lost as success when its bytes are stored', async () => {
    const store = createMemoryStore();
    const ledger = createLedger({
      store: {
        ...store,
        create: async (key, body, headers) => {
          await store.create(key, body, headers);
          return 'exists';
        },
      },
      replica: 'r',
    });
    await ledger.append(ledgerLine());
    expect(store.objects.size).toBe(1);
  });

  it.each([
    ['other bytes of the same length', (body: Buffer) => Buffer.alloc(body.length, 'x')],
    ['fewer bytes', (body: Buffer) => body.subarray(1)],
    ['nothing', () => null],
  ])('does not take `exists` for success when it finds %s', async (_name, corrupt) => {
    const store = createMemoryStore();
    const ledger = createLedger({
      store: {
        ...store,
        create: async (key, body, headers) => {
          const bytes = corrupt(body);
          if (bytes) await store.create(key, bytes, headers);
          return 'exists';
        },
      },
      replica: 'r',
    });
    await expect(ledger.append(ledgerLine())).rejects.toBeInstanceOf(StoreError);
  });

  it('bounds segments in bytes, and writes a longer line alone', async () => {
    const store = createMemoryStore();
    const ledger = createLedger({ store, replica: 'r', maxSegmentBytes: 2000 });
    const reasons = ['a', 'b'.repeat(3000), 'c', 'd', 'é'.repeat(900)];
    await Promise.all(reasons.map((reason) => ledger.append(ledgerLine({ reason }))));

    const perSegment = [...store.objects.values()].map(
      (stored) => stored.body.toString().trim().split('\n').length,
    );
    expect(perSegment).toEqual([1, 1, 2, 1]);
    expect(linesIn(store).map((line) => line.reason)).toEqual(reasons);
  });

  it('rejects lines over its bound instead of growing', async () => {
    const door = createDoor();
    const ledger = createLedger({ store: createMemoryStore(door.pass), replica: 'r', maxWaitingLines: 2 });
    const first = ledger.append(ledgerLine());
    const write = await door.next();
    const waiting = [ledger.append(ledgerLine()), ledger.append(ledgerLine())];

    await expect(ledger.append(ledgerLine())).rejects.toThrow('2 lines wait already');

    write.open();
    await first;
    (await door.next()).open();
    await Promise.all(waiting);
  });

  it('numbers segments from 1 in each hour', async () => {
    const store = createMemoryStore();
    let now = WRITTEN;
    const ledger = createLedger({ store, replica: 'r', clock: () => now });
    for (const step of [0, 0, 1, 3_600_000]) {
      now += step;
      await ledger.append(ledgerLine());
    }
    const places = [...store.objects.keys()].map((key) => parseSegmentKey(key));
    expect(places.map((place) => [place?.hour.slice(-8), place?.number])).toEqual([
      ['hour=05/', 1],
      ['hour=05/', 2],
      ['hour=06/', 1],
      ['hour=07/', 1],
    ]);
    expect(new Set(places.map((place) => place?.writer)).size).toBe(1);
    // The last one of each hour: a listing of the hour has it.
    expect(ledger.lastSegments()).toEqual([...store.objects.keys()].slice(1));
  });

  it.each([
    ['ahead of', -300_001],
    ['behind', 300_001],
  ])('does not write with a clock that is more than five minutes %s the store', async (side, offset) => {
    let ahead = offset;
    const store = { ...createMemoryStore(), clockOffset: () => ahead };
    const ledger = createLedger({ store, replica: 'r' });
    const message = `this machine's clock is 5 minutes ${side} the store's: set it`;
    await expect(ledger.append(ledgerLine())).rejects.toThrow(message);
    expect(store.objects.size).toBe(0);
    ahead = 300_000;
    await ledger.append(ledgerLine());
  });

  it('does not take a line for written whose segment shows that the clock was set before', async () => {
    let ahead = 0;
    const memory = createMemoryStore();
    const create: typeof memory.create = async (...call) => {
      const result = await memory.create(...call);
      ahead = 2 * 86_400_000;
      return result;
    };
    const ledger = createLedger({ store: { ...memory, create, clockOffset: () => ahead }, replica: 'r' });
    await expect(ledger.append(ledgerLine())).rejects.toThrow("behind the store's");
  });

  it('takes a write that is not answered in time as failed', async () => {
    const door = createDoor();
    const store = createMemoryStore(door.pass);
    const ledger = createLedger({ store, replica: 'r', writeDeadline: 1 });
    await expect(ledger.append(ledgerLine())).rejects.toThrow('was not written within 1 ms');
    (await door.next()).open();
  });

  it('flushes on close and rejects later lines', async () => {
    const store = createMemoryStore(() => sleep(2));
    const ledger = createLedger({ store, replica: 'r' });
    const appended = [ledger.append(ledgerLine()), ledger.append(ledgerLine())];
    await ledger.close();
    expect(linesIn(store)).toHaveLength(2);
    await Promise.all(appended);
    await expect(ledger.append(ledgerLine())).rejects.toThrow('closed');
    await ledger.close();
  });

  describe('with a linger', () => {
    beforeEach(() => void jest.useFakeTimers());
    afterEach(() => void jest.useRealTimers());

    it('writes the lines of callbacks together once the first has waited that long', async () => {
      const store = createMemoryStore();
      const ledger = createLedger({ store, replica: 'r', maxLinger: 200, fullSegment: 100 });
      const first = ledger.append(ledgerLine());
      await immediate();
      await jest.advanceTimersByTimeAsync(150);
      const second = ledger.append(ledgerLine());
      await jest.advanceTimersByTimeAsync(49);
      expect(store.objects.size).toBe(0);
      await jest.advanceTimersByTimeAsync(1);
      await Promise.all([first, second]);
      expect(store.objects.size).toBe(1);
      expect(linesIn(store)).toHaveLength(2);
    });

    it.each(['recovery', 'replay', 'import', 'realtime'] as const)(
      'never makes a line of origin %s wait, nor the callbacks that wait already',
      async (origin) => {
        const store = createMemoryStore();
        const ledger = createLedger({ store, replica: 'r', maxLinger: 5000 });
        const callback = ledger.append(ledgerLine());
        await jest.advanceTimersByTimeAsync(10);
        const other = ledger.append(ledgerLine({ origin }));
        await jest.advanceTimersByTimeAsync(0);
        await Promise.all([callback, other]);
        expect(store.objects.size).toBe(1);
      },
    );

    it('writes a full segment at once', async () => {
      const store = createMemoryStore();
      const ledger = createLedger({ store, replica: 'r', maxLinger: 5000, fullSegment: 30 });
      const appended = Array.from({ length: 30 }, () => ledger.append(ledgerLine()));
      await jest.advanceTimersByTimeAsync(0);
      await Promise.all(appended);
      expect(store.objects.size).toBe(1);
    });

    it('writes what waits when it is closed', async () => {
      const store = createMemoryStore();
      const ledger = createLedger({ store, replica: 'r', maxLinger: 5000 });
      const appended = ledger.append(ledgerLine());
      await jest.advanceTimersByTimeAsync(10);
      await ledger.close();
      await appended;
    });
  });

  it('puts 20 lines and more into a segment under 48 concurrent appenders', async () => {
    jest.useFakeTimers();
    const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
    const store = createMemoryStore(() => pause(15));
    let segments = 0;
    const ledger = createLedger({ store, replica: 'r', onSegment: [() => (segments += 1)] });
    const rounds = 12;
    const appending = Promise.all(
      Array.from({ length: 48 }, async (_, index) => {
        for (let round = 0; round < rounds; round += 1) {
          await pause((index * 7 + round * 3) % 10);
          await ledger.append(ledgerLine());
        }
      }),
    );
    await jest.advanceTimersByTimeAsync(10_000);
    jest.useRealTimers();
    await appending;
    expect((48 * rounds) / segments).toBeGreaterThanOrEqual(20);
  });
});
