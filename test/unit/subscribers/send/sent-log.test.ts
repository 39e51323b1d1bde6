import { describe, expect, it } from '@jest/globals';
import type { SentAttempt } from '../../../../src/domain/sent-attempt.js';
import { parseSegmentKey } from '../../../../src/ledger/segment-key.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { createSentLog, type SentLogOptions } from '../../../../src/subscribers/send/sent-log.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';

const NOW = Date.parse('2026-03-04T05:59:00.000Z');

const attempt = (event: string): Omit<SentAttempt, 'v'> => ({
  event,
  jobId: 'job1',
  source: 'intake',
  type: 'job.stored',
  at: '2026-03-04T05:59:00.000Z',
  status: 200,
  error: null,
  attempt: 1,
  ended: 'delivered',
  durationMs: 3,
  line: null,
});

function sentLog(store: MemoryStore, options: Partial<SentLogOptions> = {}) {
  const errors: unknown[] = [];
  const log = createSentLog({
    store,
    subscriber: 'crm',
    replica: 'replica-a',
    clock: () => NOW,
    interval: 20,
    onError: (error) => errors.push(error),
    ...options,
  });
  return { ...log, errors };
}

const keysOf = ({ objects }: MemoryStore) => [...objects.keys()].filter((key) => key.includes('/sent/'));
const linesOf = (store: MemoryStore) =>
  keysOf(store).flatMap((key) =>
    String(store.objects.get(key)?.body)
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as SentAttempt),
  );

describe('the record of what was sent', () => {
  it('is numbered segments of one writer in the hour of writing, and nothing where nothing was sent', async () => {
    const store = createMemoryStore();
    let now = NOW;
    const log = sentLog(store, { clock: () => now });
    await log.flush();
    expect(keysOf(store)).toEqual([]);
    for (const event of ['one', 'two']) {
      log.record(attempt(event));
      await log.flush();
    }
    now += 120_000;
    log.record(attempt('three'));
    await log.flush();
    const places = keysOf(store).map((key) => parseSegmentKey(key));
    expect(places.map((place) => [place?.hour, place?.number])).toEqual([
      ['dt=2026-03-04/hour=05/', 1],
      ['dt=2026-03-04/hour=05/', 2],
      ['dt=2026-03-04/hour=06/', 1],
    ]);
    expect(new Set(places.map((place) => place?.writer)).size).toBe(1);
    expect(places[0]?.writer).toMatch(/^crm\/[0-9A-Z]{26}-replica-a$/);
    expect(keysOf(store)[0]).toMatch(/^outbox\/crm\/sent\/dt=2026-03-04\/hour=05\//);
    expect(linesOf(store)).toEqual(['one', 'two', 'three'].map((event) => ({ v: 1, ...attempt(event) })));
  });

  it('writes what comes meanwhile as one segment, not more often than the interval', async () => {
    const store = createMemoryStore();
    const begun: number[] = [];
    const create: MemoryStore['create'] = (...args) => {
      begun.push(performance.now());
      return store.create(...args);
    };
    const log = sentLog({ ...store, create }, { interval: 50 });
    const started = performance.now();
    for (let index = 0; index < 4; index += 1) {
      for (let each = 0; each < 25; each += 1) log.record(attempt(`${index}-${each}`));
      await log.flush();
    }
    expect(linesOf(store)).toHaveLength(100);
    expect(begun.length).toBeGreaterThan(1);
    // Counted from the start: a write that a busy machine holds up is not late for the next one.
    const early = begun.filter((time, index) => time - started < index * 50);
    expect(early).toEqual([]);
  });

  it('keeps what a store refuses for later, says so once, and holds nobody up meanwhile', async () => {
    let refuses = true;
    let calls = 0;
    const store = createMemoryStore((_verb, key) => {
      if (!key.includes('/sent/')) return;
      calls += 1;
      if (refuses) throw new StoreError('create', 'access denied');
    });
    const log = sentLog(store);
    for (let index = 0; index < 5; index += 1) {
      log.record(attempt(`${index}`));
      await log.flush();
    }
    expect(log.errors).toHaveLength(1);
    expect(calls).toBe(1);
    const again = sentLog(store, { retry: 0 });
    again.record(attempt('first'));
    await again.flush();
    refuses = false;
    again.record(attempt('second'));
    await again.flush();
    expect(linesOf(store).map(({ event }) => event)).toEqual(['first', 'second']);
  });

  it('goes under another name after a write whose outcome is unknown, and writes over nothing', async () => {
    let isLost = true;
    const store = createMemoryStore();
    const log = sentLog(
      {
        ...store,
        async create(...given: Parameters<MemoryStore['create']>) {
          const created = await store.create(...given);
          if (isLost) throw new StoreError('create', 'the answer was lost');
          return created;
        },
      } as MemoryStore,
      { retry: 0 },
    );
    log.record(attempt('one'));
    await log.flush();
    isLost = false;
    await log.flush();
    expect(linesOf(store).map(({ event }) => event)).toEqual(['one', 'one']);
    expect(keysOf(store).map((key) => parseSegmentKey(key)?.number)).toEqual([1, 1]);
    expect(log.errors).toHaveLength(1);
  });
});
