import { describe, expect, it } from '@jest/globals';
import { countRefusals } from '../../../src/archive/count-refusals.js';
import { createRefusalCountsReader } from '../../../src/archive/read-refusal-counts.js';
import { StoreError } from '../../../src/store/object-store.js';
import { createMemoryStore } from '../../support/store/memory-store.js';
import { until } from '../../support/until.js';

const NOON = Date.parse('2026-03-04T12:00:00.000Z');
const MINUTE = 60_000;

const clock = () => NOON;

const at = (ms: number) => new Date(NOON + ms).toISOString();
const wrong = { source: 'intake', reason: 'credential-wrong' };

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
    expect(await createRefusalCountsReader(store, clock)()).toEqual({
      complete: true,
      counts: [
        { day: '2026-03-04', ...wrong, count: 3, first: at(-1), last: at(1) },
        {
          day: '2026-03-03',
          ...wrong,
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

  it('are bounded: further sources are counted without their name', async () => {
    const store = createMemoryStore();
    const counter = countRefusals(store, () => true);
    for (let n = 0; n < 3000; n += 1) counter.add({ ...wrong, at: at(n), source: `source-${n % 1500}` });
    await counter.stop();
    const { counts } = await createRefusalCountsReader(store, clock)();
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
    const { counts } = await createRefusalCountsReader(store, clock)();
    expect(counts).toMatchObject([{ count: 1 }]);
  });

  it('say when an object cannot be read as one', async () => {
    const store = createMemoryStore();
    store.put('reports/refusals/2026-03-04/01.json', '{"counts":[{"source":1}]}');
    expect(await createRefusalCountsReader(store, clock)()).toEqual({ complete: false, counts: [] });
  });
});
