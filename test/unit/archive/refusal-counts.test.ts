import { describe, expect, it } from '@jest/globals';
import { countRefusals } from '../../../src/archive/count-refusals.js';
import { createRefusalCountsReader } from '../../../src/archive/read-refusal-counts.js';
import { StoreError } from '../../../src/store/object-store.js';
import { createMemoryStore } from '../../support/store/memory-store.js';
import { until } from '../../support/until.js';

const NOON = Date.parse('2026-03-04T12:00:00.000Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const clock = () => NOON;

const at = (ms: number) => new Date(NOON + ms).toISOString();
const wrong = { source: 'intake', reason: 'credential-wrong', isFromSender: false };
const counted = { source: 'intake', reason: 'credential-wrong' };
const fromSender = { ...wrong, isFromSender: true };

describe('counts of unauthenticated refusals', () => {
  it('of ended replicas and of yesterday are read together, older ones are not', async () => {
    const store = createMemoryStore();
    for (const ms of [-48 * 60 * MINUTE, -24 * 60 * MINUTE, 0]) {
      const counter = countRefusals(store, () => true);
      counter.add({ at: at(ms), ...wrong });
      counter.add({ at: at(ms + 1), ...wrong });
      await counter.stop();
    }
    const other = countRefusals(store, () => true);
    other.add({ at: at(-1), ...wrong });
    await other.stop();
    expect(await createRefusalCountsReader(store, clock).daily()).toEqual({
      complete: true,
      counts: [
        { day: '2026-03-04', ...counted, count: 3, first: at(-1), last: at(1) },
        {
          day: '2026-03-03',
          ...counted,
          count: 2,
          first: at(-24 * 60 * MINUTE),
          last: at(-24 * 60 * MINUTE + 1),
        },
      ],
    });
  });

  it('cost a write for each interval, and none when there is nothing new', async () => {
    const store = createMemoryStore();
    const counter = countRefusals(store, () => true, 10);
    for (let n = 0; n < 10_000; n += 1) counter.add({ at: at(n), ...wrong });
    await until(() => store.calls.length > 0);
    await counter.stop();
    expect(store.calls).toHaveLength(1);
  });

  it('are not written again within the interval, whatever comes', async () => {
    const store = createMemoryStore();
    const counter = countRefusals(store, () => true, 3_600_000);
    counter.add({ at: at(0), ...wrong });
    await until(() => store.calls.length > 0);
    counter.add({ at: at(1), ...wrong });
    await counter.stop();
    expect(store.calls).toHaveLength(2);
  });

  it('of the last day are those of the sender, by minute, of all replicas', async () => {
    const store = createMemoryStore();
    for (const replica of [0, 1]) {
      const counter = countRefusals(store, () => true);
      for (const ms of [-DAY - 1, -23 * HOUR, -59 * MINUTE, -2 * MINUTE, -2 * MINUTE + 1])
        counter.add({ at: at(ms), ...fromSender });
      counter.add({ at: at(-MINUTE), ...wrong });
      counter.add({ at: at(-MINUTE), ...fromSender, source: null, reason: 'source-unknown' });
      await counter.stop();
      expect(await createRefusalCountsReader(store, clock).lastDay()).toHaveLength(3 * (replica + 1));
    }
    const all = await createRefusalCountsReader(store, clock).lastDay();
    expect(all.slice(0, 1)).toEqual([{ ...counted, minutes: [[NOON - 23 * HOUR, 1]] }]);
    expect(all.slice(2, 4)).toEqual([
      {
        ...counted,
        minutes: [
          [NOON - 59 * MINUTE, 1],
          [NOON - 2 * MINUTE, 2],
        ],
      },
      { source: null, reason: 'source-unknown', minutes: [[NOON - MINUTE, 1]] },
    ]);
  });

  it('keep the hours that wait for the store bounded', async () => {
    const store = createMemoryStore();
    let isReady = false;
    const counter = countRefusals(store, () => isReady, 3_600_000);
    for (let hour = 0; hour < 100; hour += 1) counter.add({ at: at(hour * 60 * MINUTE), ...wrong });
    isReady = true;
    await counter.stop();
    expect(store.calls).toHaveLength(12);
  });

  it('are bounded: further sources are counted without their name', async () => {
    const store = createMemoryStore();
    const counter = countRefusals(store, () => true);
    for (let n = 0; n < 3000; n += 1) counter.add({ ...wrong, at: at(n), source: `source-${n % 1500}` });
    await counter.stop();
    const { counts } = await createRefusalCountsReader(store, clock).daily();
    expect(counts).toHaveLength(1001);
    expect(counts[0]).toMatchObject({ source: null, count: 1000 });
  });

  it('wait while the store is away, and are written after it', async () => {
    let isAway = true;
    const store = createMemoryStore(() => {
      if (isAway) throw new StoreError('replace', 'away');
    });
    const counter = countRefusals(store, () => true, 10);
    counter.add({ at: at(0), ...wrong });
    await until(() => store.calls.length > 2);
    isAway = false;
    await counter.stop();
    const { counts } = await createRefusalCountsReader(store, clock).daily();
    expect(counts).toMatchObject([{ count: 1 }]);
  });

  it('say when an object cannot be read as one', async () => {
    const store = createMemoryStore();
    store.put('reports/refusals/2026-03-04/01.json', '{"counts":[{"source":1}]}');
    expect(await createRefusalCountsReader(store, clock).daily()).toEqual({ complete: false, counts: [] });
    store.put('reports/refusals/2026-03-04T10/01.json', '{"counts":[{"source":1}]}');
    expect(await createRefusalCountsReader(store, clock).lastDay()).toEqual([]);
    store.put('reports/refusals/2026-03-04T12/01.json', '{"counts":[{"source":1}]}');
    await expect(createRefusalCountsReader(store, clock).lastDay()).rejects.toThrow(
      /2026-03-04T12 are damaged/,
    );
  });
});
