import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createIndexFiller } from '../../../src/index/fill/fill-index.js';
import { fillAll, type IndexFiller } from '../../../src/index/fill/index-filler.js';
import type { IndexCalls } from '../../../src/index/index-calls.js';
import { IndexError } from '../../../src/index/index-error.js';
import { createLedgerIndex, type LedgerIndex } from '../../../src/index/ledger-index.js';
import { HOUR, hourAt, startOfHour } from '../../../src/ledger/hours.js';
import { createMerger } from '../../../src/ledger/merge/merge.js';
import { retryingReads } from '../../../src/ledger/retrying-reads.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';
import { StoreError } from '../../../src/store/object-store.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { createMemoryStore, type MemoryStore } from '../../support/store/memory-store.js';
import { withUnlistable } from '../../support/store/unlistable-folders.js';
import { withUnreadable } from '../../support/store/unreadable-objects.js';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { drawnQuery, expectAnswers } from './expect-answers.js';
import {
  drawnLedger,
  FIRST,
  type Placed,
  type PlacedAttempt,
  spansOf,
  writeLedger,
} from './indexed-ledger.js';

/**
 * What fills the index, against a plain loop over what the store has: replicas write while time passes, calls of the store and of the index
 * fail, the process is killed and begins again, segments are lost and come back, lines are damaged, and single objects cannot be read and
 * single hours not be listed for a while.
 */

const MINUTE = 60_000;
const textOf = (content: Uint8Array | null) => Buffer.from(content ?? []).toString();

const drawnStep = fc.record({
  /** Minutes that pass. */
  minutes: fc.oneof(fc.integer({ min: 0, max: 25 }), fc.integer({ min: 60, max: 150 })),
  /** The call that fails, of the store and of the index. */
  storeFails: fc.option(fc.nat(30), { freq: 2 }),
  indexFails: fc.option(fc.record({ at: fc.nat(12), isDone: fc.boolean() }), { freq: 2 }),
  isRestarted: fc.boolean(),
  /** Whole hours are merged, and segments deleted that those have. */
  isMerged: fc.boolean(),
});

/** Whether a later number of its writer follows in its hour: only then can anybody know that it is missing. */
function isFollowed(key: string, keys: readonly string[]): boolean {
  const writer = key.slice(0, key.lastIndexOf('~') + 1);
  return keys.some((other) => other.startsWith(writer) && other > key);
}

function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1);
}

async function merge(store: MemoryStore, now: number): Promise<void> {
  const clock = () => now;
  const keep = { keepSegments: HOUR, keepSent: 10_000 * HOUR };
  await createMerger({ store, clock, ...keep }).run({ since: new Date(0) });
}

interface World {
  readonly store: MemoryStore;
  readonly now: () => number;
  /** Calls until one fails; null: none does. */
  failing: { store: number | null; index: { at: number; isDone: boolean } | null };
}

function callsOf(world: World, index: LedgerIndex): IndexCalls {
  return {
    async call(name, ...values) {
      const method = index[name] as (...given: typeof values) => ReturnType<(typeof index)[typeof name]>;
      const fails = world.failing.index;
      if (fails === null) return method(...values);
      world.failing.index = fails.at === 0 ? null : { ...fails, at: fails.at - 1 };
      if (fails.at > 0) return method(...values);
      // Its answer is lost.
      if (fails.isDone) method(...values);
      throw new IndexError('the worker ended');
    },
  };
}

describe('what fills the index', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    folder = await temporaryFolder();
  });
  afterAll(() => folder.remove());

  it('has every line of the log in the end, says what is missing, and never claims more than it read', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        drawnLedger,
        fc.array(drawnStep, { minLength: 2, maxLength: 8 }),
        fc.array(drawnQuery, { minLength: 3, maxLength: 5 }),
        fc.record({
          lost: fc.array(fc.nat(), { maxLength: 2 }),
          back: fc.array(fc.nat(), { maxLength: 2 }),
          damaged: fc.array(fc.nat(), { maxLength: 1 }),
          isRepaired: fc.boolean(),
          denied: fc.array(fc.nat(), { maxLength: 3 }),
          unlisted: fc.array(fc.nat(), { maxLength: 2 }),
        }),
        async (drawn, steps, queries, { lost, back, damaged, isRepaired, denied, unlisted }) => {
          run += 1;
          const path = `${folder.path}/${run}.sqlite`;
          const { segments, lines, attempts } = writeLedger(drawn);
          const keys = segments.map(({ hour, ...place }) => segmentKey({ ...place, hour: hourAt(hour) }));
          const pick = (numbers: readonly number[]) =>
            new Set(
              numbers.map((each) => keys[each % keys.length] ?? '').filter((key) => isFollowed(key, keys)),
            );
          const isLost = pick(lost);
          const comesBack = pick(back);
          const isDamaged = pick(damaged);
          const isDenied = new Set(denied.map((each) => keys[each % keys.length] ?? ''));
          const unlistable = unlisted.map((each) => folderOf(keys[each % keys.length] ?? ''));
          const isHidden = (key: string) => isDenied.has(key) || unlistable.includes(folderOf(key));
          const isBack = (key: string) =>
            comesBack.has(key) || (isRepaired && isDamaged.has(key) && !isLost.has(key));
          let now = FIRST;
          const failing: World['failing'] = { store: null, index: null };
          const store = createMemoryStore(
            () => {
              if (failing.store === null) return;
              failing.store = failing.store === 0 ? null : failing.store - 1;
              if (failing.store === null) throw new StoreError('test', 'connection reset');
            },
            () => now,
          );
          const world: World = { store, now: () => now, failing };
          let index: LedgerIndex | null = null;
          let filler: IndexFiller | null = null;
          const begin = () => {
            index?.close();
            index = createLedgerIndex(path, 'store');
            filler = createIndexFiller({
              store: retryingReads(
                withUnlistable(
                  withUnreadable(store, (key) => isDenied.has(key)),
                  () => unlistable,
                ),
              ),
              clock: () => now,
              reach: 30 * 24 * HOUR,
              retention: 30 * 24 * HOUR,
              index: callsOf(world, index),
              maxBytes: 2 ** 30,
            });
          };
          const written = new Set<string>();
          const write = () => {
            for (const [at, { written: time, content }] of segments.entries()) {
              const key = keys[at] ?? '';
              if (time > now || written.has(key)) continue;
              written.add(key);
              const text = textOf(content);
              if (!isLost.has(key) && !comesBack.has(key))
                store.put(key, isDamaged.has(key) ? 'torn\n' : text, time);
            }
          };
          const present = () => {
            const { since, until } = (index as LedgerIndex).state();
            return { since: since ?? Number.NEGATIVE_INFINITY, until };
          };
          begin();
          for (const { minutes, storeFails, indexFails, isRestarted, isMerged } of steps) {
            now += minutes * MINUTE;
            write();
            if (isRestarted) begin();
            // A damaged segment is repaired where it is.
            if (isMerged && isDamaged.size === 0) await merge(store, now);
            world.failing.store = storeFails;
            world.failing.index = indexFails;
            await fillAll(filler as unknown as IndexFiller).catch((error: unknown) => {
              if (!(error instanceof StoreError || error instanceof IndexError)) throw error;
            });
            world.failing.store = null;
            world.failing.index = null;
            const { since, until } = present();
            const found = new Set(
              (index as unknown as LedgerIndex)
                .findLines({ limit: 1000 })
                .map((place) => JSON.stringify(place)),
            );
            for (const { place } of lines) {
              const key = segmentKey({ ...place, hour: hourAt(place.hour) });
              const isRead = until !== null && place.written >= since && place.written < until;
              if (isRead && store.objects.has(key) && !isDamaged.has(key) && !isHidden(key))
                expect(found).toContain(JSON.stringify(place));
            }
          }
          now = Math.max(now, FIRST + 5 * HOUR);
          write();
          await fillAll(filler as unknown as IndexFiller);
          const own = index as unknown as LedgerIndex;
          // Nothing newer waits for what cannot be read, which is named unless its merged hour has it.
          expect(own.state().until).toBe(now);
          const isKnown = (place: Placed['place']) =>
            own.findLines({ limit: 1000 }).some((each) => isDeepStrictEqual(each, place));
          const lacking = lines.filter(
            ({ place }) => isHidden(segmentKey({ ...place, hour: hourAt(place.hour) })) && !isKnown(place),
          );
          if (lacking.length > 0) expect(own.state().missing).not.toEqual([]);
          isDenied.clear();
          unlistable.length = 0;
          for (const [at, { written: time, content }] of segments.entries())
            if (isBack(keys[at] ?? '')) store.put(keys[at] ?? '', textOf(content), time);
          // The pause before what is missing is read again begins when that is noticed, which may be now.
          for (let times = 0; times < 2; times += 1) {
            now += HOUR;
            await fillAll(filler as unknown as IndexFiller);
          }
          const isThere = ({ place }: Pick<PlacedAttempt, 'place'>) => {
            const key = segmentKey({ ...place, hour: hourAt(place.hour) });
            return comesBack.has(key) || !(isLost.has(key) || (isDamaged.has(key) && !isRepaired));
          };
          await expectAnswers(own, lines.filter(isThere), queries, attempts.filter(isThere));
          const { since, until, missing } = own.state();
          expect({ since, until }).toEqual({ since: null, until: now });
          const named = missing.flatMap(({ key, segments: count, unreadable }) => [
            { key, unreadable },
            ...Array.from({ length: count - 1 }, () => ({ key: 'more', unreadable: null })),
          ]);
          const gone = [...isLost].filter((key) => !comesBack.has(key));
          const torn = isRepaired
            ? []
            : [...isDamaged].filter((key) => !isLost.has(key) && !comesBack.has(key));
          expect(named.length).toBe(gone.length + torn.length);
          for (const { key, unreadable } of named)
            if (key !== 'more') expect(unreadable === null ? gone : torn).toContain(key);
          own.close();
          if (isDamaged.size > 0) return;
          now += 2 * HOUR;
          for (let times = 0; times < 2; times += 1, now += 2 * HOUR) await merge(store, now);
          index = createLedgerIndex(':memory:', 'store');
          await fillAll(
            createIndexFiller({
              store,
              clock: () => now,
              reach: 30 * 24 * HOUR,
              retention: 30 * 24 * HOUR,
              index: callsOf(world, index),
              maxBytes: 2 ** 30,
            }),
          );
          await expectAnswers(index, lines.filter(isThere), queries, attempts.filter(isThere));
          expect(index.state().missing).toEqual(missing);
          expect([...store.objects.keys()].filter((key) => key.endsWith('.ndjson'))).toEqual([]);
          index.close();
        },
      ),
      { numRuns: 60, endOnFailure: true },
    );
  }, 240_000);

  it('lets its old end go where it exceeds its bounds, says from when on it has everything, and keeps open failures', async () => {
    const DAY = 24 * HOUR;
    let now = FIRST;
    const store = createMemoryStore(undefined, () => now);
    const index = createLedgerIndex(`${folder.path}/bounds.sqlite`, 'store');
    const calls = (of: LedgerIndex): IndexCalls => ({
      async call(name, ...values) {
        return (of[name] as (...given: typeof values) => ReturnType<(typeof of)[typeof name]>)(...values);
      },
    });
    const bounds = { reach: 10 * DAY, retention: 20 * DAY, maxBytes: 600_000 };
    const filler = createIndexFiller({ store, index: calls(index), clock: () => now, ...bounds });
    const lines: Placed[] = [];
    const write = (count: number, outcome: string) => {
      const made = Array.from({ length: count }, () =>
        ledgerLine({ outcome, receivedAt: new Date(now).toISOString(), context: { call: `${now}` } }),
      );
      const text = made.map((line) => `${JSON.stringify(line)}\n`).join('');
      store.put(segmentKey({ hour: hourAt(now), writer: 'w', number: 1 }), text, now);
      const spans = spansOf(made);
      for (const [line, each] of made.entries()) {
        const span = spans[line] ?? { start: 0, length: 0 };
        const place = { hour: startOfHour(hourAt(now)), written: now, writer: 'w', number: 1, line, span };
        lines.push({ place, line: each });
      }
    };
    const check = (of = index) => {
      const since = of.state().since ?? Number.NEGATIVE_INFINITY;
      const within = lines.filter(({ place }) => place.written >= since).map(({ place }) => place);
      expect(of.findLines({ limit: 1_000_000, since })).toEqual(within.reverse());
      expect(of.usedBytes(bounds.maxBytes)).toBeLessThan(bounds.maxBytes);
      return since;
    };
    write(2, 'failed');
    for (let day = 0; day < 15; day += 1) {
      now += DAY;
      write(20, 'stored');
      await fillAll(filler);
      check();
    }
    expect(check()).toBeGreaterThanOrEqual(now - 11 * DAY);
    expect(index.findFailures().map(({ job }) => job)).toEqual([lines[0]?.line.jobId, lines[1]?.line.jobId]);
    for (let hour = 0; hour < 12; hour += 1) {
      now += HOUR;
      write(400, 'stored');
      await fillAll(filler);
      check();
    }
    expect(check()).toBeGreaterThan(now - 11 * HOUR);
    now += 10 * DAY;
    await fillAll(filler);
    expect(index.findFailures()).toEqual([]);
    index.close();

    const again = createLedgerIndex(':memory:', 'store');
    await fillAll(
      createIndexFiller({
        store,
        index: calls(again),
        clock: () => now,
        ...bounds,
        reach: 100 * DAY,
      }),
    );
    expect(check(again)).toBeGreaterThan(FIRST);
    again.close();
  });

  it('takes within a day what appears in an hour after it was whole, and lists no hour again only because it was restarted', async () => {
    let now = FIRST + 3 * HOUR;
    const store = createMemoryStore(undefined, () => now);
    const index = createLedgerIndex(':memory:', 'store');
    const calls: IndexCalls = {
      async call(name, ...values) {
        return (index[name] as (...given: typeof values) => ReturnType<(typeof index)[typeof name]>)(
          ...values,
        );
      },
    };
    const begin = () =>
      createIndexFiller({
        store,
        index: calls,
        clock: () => now,
        reach: 30 * 24 * HOUR,
        retention: 30 * 24 * HOUR,
        maxBytes: 2 ** 30,
      });
    const write = (writer: string) =>
      store.put(
        segmentKey({ hour: hourAt(FIRST), writer, number: 1 }),
        `${JSON.stringify(ledgerLine())}\n`,
        now,
      );
    const writers = () => index.findLines({ limit: 10 }).map(({ writer }) => writer);
    const filler = begin();
    write('first');
    await fillAll(filler);
    write('late');
    now += HOUR;
    await fillAll(filler);
    expect(writers()).toEqual(['first']);
    now += 24 * HOUR;
    await fillAll(filler);
    expect(writers().sort()).toEqual(['first', 'late']);
    write('later');
    await fillAll(begin());
    expect(writers()).toHaveLength(2);
    now += 24 * HOUR;
    await fillAll(begin());
    expect(writers()).toHaveLength(3);
    index.close();
  });

  it('has all lines again once it may reach back further than before, also of hours that it kept a failure of', async () => {
    const DAY = 24 * HOUR;
    let now = FIRST;
    const store = createMemoryStore(undefined, () => now);
    const index = createLedgerIndex(':memory:', 'store');
    const calls: IndexCalls = {
      async call(name, ...values) {
        return (index[name] as (...given: typeof values) => ReturnType<(typeof index)[typeof name]>)(
          ...values,
        );
      },
    };
    const fill = (days: number) =>
      fillAll(
        createIndexFiller({
          store,
          index: calls,
          clock: () => now,
          reach: days * DAY,
          retention: 30 * DAY,
          maxBytes: 2 ** 30,
        }),
      );
    const lines = ['failed', 'stored'].map((outcome) =>
      ledgerLine({ outcome, receivedAt: new Date(now).toISOString() }),
    );
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    store.put(segmentKey({ hour: hourAt(now), writer: 'w', number: 1 }), text, now);
    await fill(2);
    now += 10 * DAY;
    await fill(2);
    expect(index.findLines({ limit: 10 })).toEqual([]);
    expect(index.findFailures()).toHaveLength(1);
    await fill(30);
    expect(index.findLines({ limit: 10 })).toHaveLength(2);
    expect(index.findFailures()).toHaveLength(1);
    index.close();
  });
});
