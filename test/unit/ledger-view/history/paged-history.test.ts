import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createLedgerView } from '../../../../src/ledger-view/ledger-view.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import {
  collectPages,
  drawnLine,
  FIRST,
  historyQuery,
  identityOf,
  iso,
  lineOf,
  matchesQuery,
  NOW,
  newestFirst,
  putAll,
  putLines,
} from '../../../support/ledger/random-ledger.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const settings = fc.record({
  /** 0: every page ends as early as it may. */
  pageTime: fc.constantFrom(0, 2000),
  maxRows: fc.integer({ min: 1, max: 30 }),
  windowMs: fc.constantFrom(3_600_000, 7 * 86_400_000),
  /** An index of some dozen lines, or one for all. */
  maxIndexBytes: fc.constantFrom(1000, 1_000_000),
  indexChunk: fc.constant(4),
});

/** As random as a search needs: at regular distances every attempt of a longer search would meet a failure. */
function scattered(n: number): number {
  const first = Math.imul(n ^ (n >>> 15), 0x2c1b3c6d);
  const second = Math.imul(first ^ (first >>> 12), 0x297a2d39);
  return (second ^ (second >>> 15)) >>> 0;
}

describe('pages of older hours', () => {
  it('together show what sorting and filtering all lines would show', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawnLine, { minLength: 1, maxLength: 60 }),
        historyQuery,
        fc.integer({ min: 1, max: 9 }),
        settings,
        async (all, query, limit, options) => {
          const store = createMemoryStore();
          const lines = putAll(store, all);
          const view = createLedgerView({ store, clock: () => NOW, ...options });
          await view.refresh();
          const expected = newestFirst(lines.filter((line) => matchesQuery(line, query)));
          expect(await collectPages(view, { ...query, limit })).toEqual(expected);
          expect(await collectPages(view, { ...query, limit })).toEqual(expected);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('show late lines that lie before the cursor, and no line twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawnLine, { minLength: 1, maxLength: 40 }),
        fc.array(drawnLine, { minLength: 1, maxLength: 10 }),
        fc.integer({ min: 1, max: 5 }),
        settings,
        async (all, added, limit, options) => {
          const store = createMemoryStore();
          const lines = putAll(store, all);
          const view = createLedgerView({ store, clock: () => NOW, ...options, windowMs: 3_600_000 });
          await view.refresh();
          const waiting = added.map(lineOf);
          const late: string[] = [];
          const shown = await collectPages(view, { limit, until: iso(NOW) }, (back) => {
            const line = waiting.pop();
            if (line === undefined) return;
            putLines(store, NOW, [line]);
            if (line.receivedAt < back && matchesQuery(line, {})) late.push(identityOf(line));
          });
          const expected = newestFirst(lines.filter((line) => matchesQuery(line, {})));
          expect(shown.filter((line) => expected.includes(line))).toEqual(expected);
          expect(shown).toEqual([...new Set(shown)].sort().reverse());
          expect(late.filter((line) => !shown.includes(line))).toEqual([]);
        },
      ),
      { numRuns: 10 },
    );
  });

  it('go on after a read that failed, beside others that did not', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawnLine, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 9 }),
        settings,
        fc.integer({ min: 10, max: 30 }),
        async (all, limit, options, period) => {
          let calls = 0;
          let isFailing = false;
          const store = createMemoryStore(() => {
            calls += 1;
            if (isFailing && scattered(calls) % period === 0) throw new StoreError('read', 'reset');
          });
          const lines = putAll(store, all);
          const view = createLedgerView({ store, clock: () => NOW, ...options, windowMs: 3_600_000 });
          await view.refresh();
          isFailing = true;
          const untilItWorks: typeof view.deliveries = async (query) => {
            for (let attempt = 0; attempt < 200; attempt += 1) {
              const page = await view.deliveries(query).catch((error: unknown) => {
                expect(error).toBeInstanceOf(StoreError);
              });
              if (page) return page;
            }
            throw new Error('no attempt worked');
          };
          const query = { limit, until: iso(NOW) };
          const both = [
            collectPages({ deliveries: untilItWorks }, query),
            collectPages({ deliveries: untilItWorks }, query),
          ];
          const expected = newestFirst(lines.filter((line) => matchesQuery(line, {})));
          for (const shown of await Promise.all(both)) expect(shown).toEqual(expected);
        },
      ),
      { numRuns: 8 },
    );
  });

  it('read a segment once for searches that run at the same time, and for those after them', async () => {
    const store = createMemoryStore();
    for (let n = 0; n < 50; n += 1) {
      const line = ledgerLine({ receivedAt: iso(FIRST + n), jobId: `job-${n}` });
      putLines(store, FIRST + n, [line]);
    }
    const view = createLedgerView({ store, clock: () => NOW, windowMs: 3_600_000 });
    await view.refresh();
    store.calls.length = 0;
    const jobs = ['job-3', 'job-4', 'nobody'];
    const found = await Promise.all(jobs.map((job) => view.deliveries({ job, until: iso(NOW) })));
    expect(found.map(({ deliveries }) => deliveries.length)).toEqual([1, 1, 0]);
    const reads = () => store.calls.filter(({ operation }) => operation === 'read').length;
    // Once each for the index, and the two lines that were found.
    expect(reads()).toBe(52);
    expect((await view.deliveries({ job: 'job-5', until: iso(NOW) })).deliveries).toHaveLength(1);
    expect(reads()).toBe(53);
  });

  it("read only the lines that are listed, however many operators' acts lie between them", async () => {
    const store = createMemoryStore();
    const lines = Array.from({ length: 60 }, (_, n) =>
      ledgerLine({ receivedAt: iso(FIRST + n), origin: n % 20 === 0 ? 'callback' : 'replay' }),
    );
    for (const line of lines) putLines(store, Date.parse(line.receivedAt), [line]);
    const view = createLedgerView({ store, clock: () => NOW, windowMs: 3_600_000 });
    await view.refresh();
    const query = { without: 'acts', until: iso(NOW), limit: 2 } as const;
    await view.deliveries(query);
    store.calls.length = 0;
    const callbacks = newestFirst(lines.filter(({ origin }) => origin === 'callback'));
    const first = await view.deliveries(query);
    expect(first.deliveries.map(identityOf)).toEqual(callbacks.slice(0, 2));
    const rest = await view.deliveries({ ...query, cursor: first.nextCursor ?? '' });
    expect(rest.deliveries.map(identityOf)).toEqual(callbacks.slice(2));
    expect(rest.nextCursor).toBeNull();
    const read = store.calls.filter(({ operation }) => operation === 'read');
    expect(new Set(read.map(({ key }) => key)).size).toBe(3);
  });

  it('read no segment again whose lines are all in memory', async () => {
    const store = createMemoryStore();
    const lines = Array.from({ length: 60 }, (_, n) => ledgerLine({ receivedAt: iso(FIRST + n * 1000) }));
    const slow = ledgerLine({ receivedAt: iso(FIRST + 10_500) });
    for (const line of lines.slice(0, 59)) putLines(store, Date.parse(line.receivedAt), [line]);
    putLines(store, FIRST + 59_000, [...lines.slice(59), slow]);
    const view = createLedgerView({ store, clock: () => FIRST + 59_500, maxRows: 20 });
    await view.refresh();
    store.calls.length = 0;

    const query = { since: iso(FIRST), until: iso(FIRST + 30_000) };
    const page = await view.deliveries(query);
    const expected = newestFirst([...lines.slice(0, 30), slow]);
    expect(page.deliveries.map(identityOf)).toEqual(expected);
    const read = new Set(store.calls.filter(({ operation }) => operation === 'read').map(({ key }) => key));
    // The older segments, and the one in which the slow delivery was written.
    expect(read.size).toBe(
      lines.filter(({ receivedAt }) => receivedAt < (view.status().completeSince ?? '')).length + 1,
    );
  });
});
