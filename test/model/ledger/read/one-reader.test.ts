import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { openFailure } from '../../../../src/domain/failure-rules.js';
import { compactHour } from '../../../../src/ledger/compact/compact-hour.js';
import { HOUR, hourAt } from '../../../../src/ledger/hours.js';
import { scanLines } from '../../../../src/ledger/log/scan-lines.js';
import { createLedgerView, type LedgerView } from '../../../../src/ledger/read/ledger-view.js';
import { readLines } from '../../../../src/ledger/read/read-lines.js';
import { segmentKey } from '../../../../src/ledger/segment-key.js';
import { type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';

/**
 * The reader against a plain list of all lines: random logs of several writers, hours that are compacted, half compacted by a process
 * that died, or damaged, memory of any size, and lines that arrive between two pages.
 */

const NOW = Date.parse('2026-03-04T12:30:00.000Z');
const FIRST = Date.parse('2026-03-04T08:00:00.000Z');
const iso = (time: number) => new Date(time).toISOString();
const HEADERS = { contentType: 'text/plain', metadata: {} };

interface Written {
  readonly line: LedgerLine;
  readonly written: number;
}

const drawnLine = fc.record({
  job: fc.constantFrom('a', 'b', 'c', 'd'),
  outcome: fc.constantFrom('stored', 'failed', 'refused', 'conflict', 'noted', 'acknowledged'),
  source: fc.constantFrom('intake', 'elsewhere'),
  context: fc.constantFrom(undefined, { call: '1' }),
  /** Milliseconds from its receipt until it was written. */
  delay: fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 6 * HOUR })),
});

const drawnSegment = fc.record({
  writer: fc.constantFrom('one', 'two'),
  at: fc.oneof(
    fc.integer({ min: 0, max: NOW - FIRST }),
    fc.constantFrom(0, HOUR - 1, HOUR, 2 * HOUR, 5_000_000),
  ),
  lines: fc.array(drawnLine, { minLength: 1, maxLength: 4 }),
});

type Drawn = typeof drawnSegment extends fc.Arbitrary<infer T> ? T : never;

/** What became of the hours 08 to 11. */
const drawnHour = fc.record({
  compacted: fc.constantFrom('no', 'yes', 'yes', 'in parts', 'half'),
  crashAfter: fc.integer({ min: 1, max: 12 }),
  segments: fc.constantFrom('kept', 'kept', 'ended'),
  damage: fc.constantFrom(
    'none',
    'none',
    'none',
    'flipped',
    'no parquet',
    'no rollup',
    'no segment',
    'swapped',
  ),
  byte: fc.nat(),
});

function writeLog(store: MemoryStore, segments: readonly Drawn[]): Written[] {
  const numbers = new Map<string, number>();
  return [...segments]
    .sort((a, b) => a.at - b.at)
    .flatMap(({ writer, at, lines }) => {
      const written = FIRST + at;
      const hour = hourAt(written);
      const number = (numbers.get(hour + writer) ?? 0) + 1;
      numbers.set(hour + writer, number);
      const all = lines.map(({ job, outcome, source, context, delay }) =>
        ledgerLine({
          ...{ jobId: job, outcome, source, receivedAt: iso(written - delay) },
          ...(context === undefined ? {} : { context }),
        }),
      );
      const body = Buffer.from(all.map((line) => `${JSON.stringify(line)}\n`).join(''));
      const key = segmentKey({ hour, writer, number });
      store.objects.set(key, { body, headers: HEADERS, modifiedAt: new Date(written) });
      return all.map((line) => ({ line, written }));
    });
}

/** The store of a process that dies after some calls. */
function dying(store: ObjectStore, calls: number): ObjectStore {
  let left = calls;
  const count = () => {
    left -= 1;
    if (left < 0) throw new StoreError('test', 'the process died');
  };
  return {
    ...store,
    async create(...call) {
      count();
      return store.create(...call);
    },
    async startUpload(...call) {
      count();
      return store.startUpload(...call);
    },
  };
}

type HourPlan = typeof drawnHour extends fc.Arbitrary<infer T> ? T : never;

async function compactAsPlanned(store: MemoryStore, hour: string, plan: HourPlan): Promise<void> {
  if (plan.compacted === 'no') return;
  const own = plan.compacted === 'half' ? dying(store, plan.crashAfter) : store;
  const fileBytes = plan.compacted === 'yes' ? 48 * 1024 * 1024 : 900;
  const parts = { store: own, clock: () => NOW, keepSegments: null, fileBytes };
  await compactHour(parts, hour).catch((error: unknown) => {
    if (!(error instanceof StoreError)) throw error;
  });
}

const keysBelow = (store: MemoryStore, prefix: string) =>
  [...store.objects.keys()].filter((key) => key.startsWith(prefix)).sort();

/** Returns whether anything was damaged. */
function damage(store: MemoryStore, hour: string, plan: HourPlan): boolean {
  const [parquet] = keysBelow(store, `ledger-parquet/${hour}`);
  const [rollup] = keysBelow(store, `rollups/${hour}`);
  const segments = keysBelow(store, `ledger/${hour}`);
  if (plan.damage === 'none') return false;
  if (plan.damage === 'no segment') {
    // Not the last of its writer: nobody could know of it.
    const lost = segments.find((key, index) => segments[index + 1]?.split('~')[0] === key.split('~')[0]);
    if (lost === undefined) return false;
    return store.objects.delete(lost);
  }
  if (plan.damage === 'no rollup') return rollup !== undefined && store.objects.delete(rollup);
  const held = parquet === undefined ? undefined : store.objects.get(parquet);
  if (parquet === undefined || held === undefined) return false;
  if (plan.damage === 'no parquet') return store.objects.delete(parquet);
  const body = Buffer.from(held.body);
  if (plan.damage === 'flipped') body[plan.byte % body.length] = (body[plan.byte % body.length] ?? 0) ^ 0x10;
  const other = keysBelow(store, 'ledger-parquet/').find((key) => key !== parquet);
  const content =
    plan.damage === 'flipped' || other === undefined ? body : (store.objects.get(other)?.body ?? body);
  store.objects.set(parquet, { ...held, body: content });
  return true;
}

const identityOf = ({ receivedAt, deliveryId, outcome }: LedgerLine) =>
  `${receivedAt} ${deliveryId} ${outcome}`;

function oldestFirst(lines: readonly Written[]): LedgerLine[] {
  const position = ({ line, written }: Written) => `${iso(written)} ${line.deliveryId} ${line.outcome}`;
  return lines.toSorted((a, b) => (position(a) < position(b) ? -1 : 1)).map(({ line }) => line);
}

interface Page {
  readonly shown: string[];
  readonly faults: string[];
}

/** All pages of a query; `between` is called after each of them. */
async function pagesOf(
  view: LedgerView,
  query: Parameters<LedgerView['deliveries']>[0],
  between: () => Promise<void>,
): Promise<Page> {
  const shown: string[] = [];
  const faults = new Set<string>();
  let cursor: string | null = null;
  let back = '~';
  do {
    const page: Awaited<ReturnType<LedgerView['deliveries']>> = await view.deliveries(
      cursor === null ? query : { ...query, cursor },
    );
    expect(page.deliveries.length).toBeLessThanOrEqual(query?.limit ?? 50);
    shown.push(...page.deliveries.map(identityOf));
    for (const fault of page.faults) faults.add(fault);
    expect((page.searchedBackTo ?? '') <= back).toBe(true);
    back = page.searchedBackTo ?? '';
    cursor = page.nextCursor;
    await between();
  } while (cursor !== null);
  return { shown, faults: [...faults] };
}

/** Nothing foreign, nothing twice, all in order; and what is missing is said. */
function expectHonest(found: Page, expected: readonly LedgerLine[], isDamaged: boolean): void {
  const all = expected.map(identityOf);
  const known = new Set(found.shown);
  expect(found.shown).toEqual(all.filter((each) => known.has(each)));
  if (!isDamaged) expect(found.faults).toEqual([]);
  if (found.faults.length === 0) expect(found.shown).toEqual(all);
}

describe('the one reader', () => {
  it('shows every line once, in order, finds each job and each open failure, and says what it could not read', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(drawnSegment, { minLength: 1, maxLength: 30 }),
        fc.array(drawnHour, { minLength: 4, maxLength: 4 }),
        fc.record({
          limit: fc.integer({ min: 1, max: 9 }),
          maxBytes: fc.constantFrom(1, 8_000, 40_000, 1_000_000),
          pageTime: fc.constantFrom(0, 2000),
        }),
        async (segments, plans, { limit, maxBytes, pageTime }) => {
          const store = createMemoryStore(undefined, () => NOW);
          const lines = writeLog(store, segments);
          let isDamaged = false;
          for (const [index, plan] of plans.entries()) {
            const hour = hourAt(FIRST + index * HOUR);
            await compactAsPlanned(store, hour, plan);
          }
          for (const [index, plan] of plans.entries()) {
            const hour = hourAt(FIRST + index * HOUR);
            const isWhole = plan.compacted === 'yes' || plan.compacted === 'in parts';
            if (isWhole && plan.segments === 'ended')
              for (const key of keysBelow(store, `ledger/${hour}`)) store.objects.delete(key);
            isDamaged = damage(store, hour, plan) || isDamaged;
          }
          let now = NOW;
          const view = createLedgerView({ store, clock: () => now, maxBytes, pageTime });
          await view.refresh();
          const newest = oldestFirst(lines).reverse();
          let arrived = 0;
          const arrive = async () => {
            arrived += 1;
            now += 1;
            const body = Buffer.from(JSON.stringify(ledgerLine({ receivedAt: iso(now), jobId: 'a' })));
            const key = segmentKey({ hour: hourAt(now), writer: 'later', number: arrived });
            store.objects.set(key, { body, headers: HEADERS, modifiedAt: new Date(now) });
            await view.refresh();
          };
          const until = iso(NOW + 1);
          const query = { limit, since: '1970-01-01T00:00:00Z', until };

          await view.readPast();
          const failing = await view.openFailures({ limit: 100 });
          const expected = ['a', 'b', 'c', 'd'].flatMap((job) => {
            const own = newest.filter(({ jobId }) => jobId === job);
            const open = openFailure(own, () => true);
            return open === null ? [] : [`${job} ${open.outcome}`];
          });
          const listed = failing.failures.map(({ jobId, outcome }) => `${jobId} ${outcome}`);
          if (failing.complete) expect(listed.sort()).toEqual(expected.sort());
          for (const name of ['searchedBackTo', 'complete', 'faults']) expect(failing).toHaveProperty(name);

          expectHonest(await pagesOf(view, query, arrive), newest, isDamaged);
          const ofJob = await pagesOf(view, { ...query, job: 'b' }, arrive);
          expectHonest(
            ofJob,
            newest.filter(({ jobId }) => jobId === 'b'),
            isDamaged,
          );
          const filters = { source: 'intake', context: 'call=1' };
          const filtered = await pagesOf(view, { ...query, ...filters }, arrive);
          const wanted = newest.filter(({ source, context }) => source === 'intake' && context?.call === '1');
          expectHonest(filtered, wanted, isDamaged);
          await view.stop();

          const read: Page = { shown: [], faults: [] };
          const onFault = (text: string) => read.faults.push(text);
          for await (const line of readLines(store, { until: NOW + 1, onFault }))
            read.shown.push(identityOf(line));
          expectHonest(read, newest.toReversed(), isDamaged);

          const scanned: string[] = [];
          const faults: string[] = [];
          const places = new Set<string>();
          const note = (text: string) => faults.push(text);
          const range = { since: FIRST + HOUR / 2, until: NOW - HOUR / 2 };
          for await (const { line, place } of scanLines({
            store,
            ...range,
            onFault: note,
            onSkipped: note,
          })) {
            scanned.push(identityOf(line));
            places.add(JSON.stringify([hourAt(place.written), place]));
          }
          const within = lines.filter(({ written }) => written >= range.since && written < range.until);
          expect(places.size).toBe(scanned.length);
          expect(new Set(scanned).size).toBe(scanned.length);
          const inRange = oldestFirst(within).map(identityOf);
          expect(inRange).toEqual(expect.arrayContaining(scanned));
          if (!isDamaged) expect(faults).toEqual([]);
          if (faults.length === 0) expect(scanned.sort()).toEqual(inRange.sort());
        },
      ),
      { numRuns: 150 },
    );
  }, 120_000);
});
