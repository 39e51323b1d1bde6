import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { encodeTime } from 'ulid';
import { writtenAt } from '../../../../src/ledger/segment-name.js';
import { createSegmentList } from '../../../../src/ledger-view/history/segment-list.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const HOUR = Date.parse('2026-03-04T05:00:00.000Z');
const PARTITION = 'ledger/dt=2026-03-04/hour=05/';
const NOW = HOUR + 5 * 3_600_000;

const nameOf = (time: number, number: number) =>
  `${encodeTime(time)}${String(number).padStart(16, '0')}-r${number % 3}`;

/** Dense and sparse hours, with segments that were written hours later and ones that are not ours. */
const hours = fc
  .record({
    dense: fc.integer({ min: 0, max: 3_599_000 }),
    density: fc.integer({ min: 1, max: 900 }),
    count: fc.integer({ min: 0, max: 4000 }),
    sparse: fc.array(fc.integer({ min: 0, max: 3_599_999 }), { maxLength: 100 }),
    late: fc.array(fc.integer({ min: 3_600_000, max: 20_000_000 }), { maxLength: 5 }),
    foreign: fc.array(fc.constantFrom('0-by-hand', 'merged', 'zzz'), { maxLength: 2 }),
  })
  .map(({ dense, density, count, sparse, late, foreign }) => {
    const times = Array.from({ length: count }, (_, n) =>
      Math.min(3_599_999, dense + Math.floor(n / density)),
    );
    const ours = [...times, ...sparse, ...late].map((time, number) => nameOf(HOUR + time, number));
    return [...new Set([...ours, ...foreign])];
  });

describe('list of segments', () => {
  it('names every segment once, and no later one after it says that it is complete down to an instant', async () => {
    await fc.assert(
      fc.asyncProperty(
        hours,
        fc.integer({ min: 1, max: 3000 }),
        fc.integer({ min: 5, max: 9 }),
        async (names, count, period) => {
          let calls = 0;
          const store = createMemoryStore(() => {
            calls += 1;
            if ((Math.imul(calls, 0x9e3779b1) >>> 16) % period === 0) throw new StoreError('list', 'reset');
          });
          for (const name of names) store.put(`${PARTITION}${name}.ndjson`, '');
          const list = createSegmentList({ store, partition: PARTITION, clock: () => NOW });
          const listed: string[] = [];
          for (;;) {
            const complete = list.complete();
            const next = await list.next(count).catch(() => null);
            if (next === null) continue;
            if (next.length === 0) break;
            for (const name of next) {
              if (complete < Infinity) expect(writtenAt(name) ?? Infinity).toBeLessThan(complete);
            }
            listed.push(...next);
          }
          expect(list.complete()).toBe(Number.NEGATIVE_INFINITY);
          expect(listed.sort()).toEqual(names.sort());
        },
      ),
      { numRuns: 12 },
    );
  });

  it('finds a page of the newest segments of a busy hour without listing the hour', async () => {
    const store = createMemoryStore();
    for (let n = 0; n < 36_000; n += 1) store.put(`${PARTITION}${nameOf(HOUR + n * 100, n)}.ndjson`, '');
    let listed = 0;
    const counting = {
      ...store,
      async *list(...place: Parameters<typeof store.list>) {
        for await (const entry of store.list(...place)) {
          listed += 1;
          yield entry;
        }
      },
    };
    const list = createSegmentList({ store: counting, partition: PARTITION, clock: () => NOW });
    expect(await list.next(10)).toHaveLength(10);
    expect(listed).toBeLessThan(1100);
  });

  it('finds late segments once', async () => {
    let now = NOW;
    const store = createMemoryStore();
    const put = (time: number, number: number) => {
      const name = nameOf(time, number);
      store.put(`${PARTITION}${name}.ndjson`, '');
      return name;
    };
    put(HOUR, 1);
    put(NOW - 1000, 2);
    const list = createSegmentList({ store, partition: PARTITION, clock: () => now });
    expect(await list.late()).toEqual([]);
    expect(await list.next(9)).toHaveLength(2);
    const late = put(NOW - 500, 3);
    expect(await list.late()).toEqual([late]);
    expect(await list.late()).toEqual([]);
    now += 60_000;
    const slowClock = put(now - 100_000, 4);
    expect(await list.late()).toEqual([slowClock]);
  });
});
