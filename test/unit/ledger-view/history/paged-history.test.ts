import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ledgerPartition } from '../../../../src/archive/layout.js';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import type { DeliveryQuery } from '../../../../src/ledger-view/delivery-query.js';
import { createLedgerView, type LedgerView } from '../../../../src/ledger-view/ledger-view.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';

const NOW = Date.parse('2026-03-04T12:30:00.000Z');
const FIRST = Date.parse('2026-03-04T05:59:00.000Z');
const iso = (time: number) => new Date(time).toISOString();

/** A line: when it was received after `FIRST`, how long after that it was written, and the values that filters see. */
interface Drawn {
  readonly received: number;
  readonly upload: number;
  readonly job: string;
  readonly region: string;
  readonly outcome: string;
  readonly isDouble: boolean;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  // Around the full hour, in few instants, and anywhere in two hours.
  received: fc.oneof(
    fc.integer({ min: 59_990, max: 60_010 }),
    fc.integer({ min: 0, max: 5 }),
    fc.integer({ min: 0, max: 7_000_000 }),
  ),
  upload: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 3000 }),
    fc.integer({ min: 0, max: 16_000_000 }),
  ),
  job: fc.constantFrom('a', 'b', 'c'),
  region: fc.constantFrom('eu1', 'us1'),
  outcome: fc.constantFrom('stored', 'failed'),
  isDouble: fc.boolean(),
});

const queries: fc.Arbitrary<DeliveryQuery> = fc.record(
  {
    job: fc.constantFrom('a', 'b'),
    region: fc.constant('us1'),
    outcome: fc.constant('failed'),
    since: fc.integer({ min: 0, max: 7_000_000 }).map((after) => iso(FIRST + after)),
    until: fc.integer({ min: 0, max: 7_000_000 }).map((after) => iso(FIRST + after)),
  },
  { requiredKeys: [] },
);

function lineOf({ received, job, region, outcome }: Drawn): LedgerLine {
  return ledgerLine({ receivedAt: iso(FIRST + received), jobId: job, region, outcome });
}

/** Lines that were written together, as a replica does: by hour of receipt. */
function putLines(store: MemoryStore, written: number, lines: readonly LedgerLine[]): void {
  for (const partition of new Set(lines.map((line) => ledgerPartition(line.receivedAt)))) {
    const together = lines.filter((line) => ledgerPartition(line.receivedAt) === partition);
    putSegment(store, iso(written), together, partition);
  }
}

function putAll(store: MemoryStore, all: readonly Drawn[]): LedgerLine[] {
  const lines = all.map(lineOf);
  const written = all.map(({ received, upload }) => FIRST + received + upload);
  for (const time of new Set(written)) {
    putLines(
      store,
      time,
      lines.filter((_, index) => written[index] === time),
    );
  }
  all.forEach(({ isDouble }, index) => {
    if (isDouble) putLines(store, (written[index] ?? 0) + 1000, lines.slice(index, index + 1));
  });
  return lines;
}

function matches(line: LedgerLine, { job, region, outcome, since, until }: DeliveryQuery): boolean {
  return (
    (job === undefined || line.jobId === job) &&
    (region === undefined || line.region === region) &&
    (outcome === undefined || line.outcome === outcome) &&
    (since === undefined || line.receivedAt >= since) &&
    (until === undefined || line.receivedAt < until)
  );
}

const identityOf = (line: LedgerLine) => `${line.receivedAt} ${line.deliveryId} ${line.outcome}`;
const newestFirst = (lines: readonly LedgerLine[]) => lines.map(identityOf).sort().reverse();

/** All pages of a query; `between` is called after each of them. */
async function collect(
  view: Pick<LedgerView, 'deliveries'>,
  query: DeliveryQuery,
  between: (back: string) => void = () => undefined,
): Promise<string[]> {
  const shown: string[] = [];
  let cursor: string | null = null;
  let back = '~';
  let pages = 0;
  do {
    const page: Awaited<ReturnType<LedgerView['deliveries']>> = await view.deliveries(
      cursor === null ? query : { ...query, cursor },
    );
    expect(page.deliveries.length).toBeLessThanOrEqual(query.limit ?? 50);
    shown.push(...page.deliveries.map(identityOf));
    cursor = page.nextCursor;
    expect((page.searchedBackTo ?? '') <= back).toBe(true);
    back = page.searchedBackTo ?? '';
    if (cursor !== null) between(back);
    expect(++pages).toBeLessThan(1000);
  } while (cursor !== null);
  return shown;
}

const settings = fc.record({
  /** 0: every page ends as early as it may. */
  pageTime: fc.constantFrom(0, 2000),
  maxRows: fc.integer({ min: 1, max: 30 }),
  windowMs: fc.constantFrom(3_600_000, 7 * 86_400_000),
  /** An index of some dozen lines, or one for all. */
  maxIndexBytes: fc.constantFrom(1000, 1_000_000),
  indexChunk: fc.constant(4),
});

describe('pages of older hours', () => {
  it('together show what sorting and filtering all lines would show', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawn, { minLength: 1, maxLength: 60 }),
        queries,
        fc.integer({ min: 1, max: 9 }),
        settings,
        async (all, query, limit, options) => {
          const store = createMemoryStore();
          const lines = putAll(store, all);
          const view = createLedgerView({ store, clock: () => NOW, ...options });
          await view.refresh();
          const expected = newestFirst(lines.filter((line) => matches(line, query)));
          expect(await collect(view, { ...query, limit })).toEqual(expected);
          expect(await collect(view, { ...query, limit })).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('show late lines that lie before the cursor, and no line twice', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawn, { minLength: 1, maxLength: 40 }),
        fc.array(drawn, { minLength: 1, maxLength: 10 }),
        fc.integer({ min: 1, max: 5 }),
        settings,
        async (all, added, limit, options) => {
          const store = createMemoryStore();
          const lines = putAll(store, all);
          const view = createLedgerView({ store, clock: () => NOW, ...options, windowMs: 3_600_000 });
          await view.refresh();
          const waiting = added.map(lineOf);
          const late: string[] = [];
          const shown = await collect(view, { limit, until: iso(NOW) }, (back) => {
            const line = waiting.pop();
            if (line === undefined) return;
            putLines(store, NOW, [line]);
            if (line.receivedAt < back) late.push(identityOf(line));
          });
          const expected = newestFirst(lines);
          expect(shown.filter((line) => expected.includes(line))).toEqual(expected);
          expect(shown).toEqual([...new Set(shown)].sort().reverse());
          expect(late.filter((line) => !shown.includes(line))).toEqual([]);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('go on after a read that failed, beside others that did not', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawn, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 9 }),
        settings,
        fc.integer({ min: 10, max: 30 }),
        async (all, limit, options, period) => {
          let calls = 0;
          let isFailing = false;
          const store = createMemoryStore(() => {
            calls += 1;
            if (isFailing && (Math.imul(calls, 0x9e3779b1) >>> 16) % period === 0)
              throw new StoreError('read', 'reset');
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
            collect({ deliveries: untilItWorks }, query),
            collect({ deliveries: untilItWorks }, query),
          ];
          for (const shown of await Promise.all(both)) expect(shown).toEqual(newestFirst(lines));
        },
      ),
      { numRuns: 12 },
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
});
