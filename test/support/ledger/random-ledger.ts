import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { LedgerLine, LedgerOrigin } from '../../../src/domain/delivery.js';
import { isInScope } from '../../../src/domain/rights.js';
import { ledgerPartition } from '../../../src/ledger/ledger-keys.js';
import type { DeliveryQuery } from '../../../src/ledger-view/delivery-query.js';
import type { LedgerView } from '../../../src/ledger-view/ledger-view.js';
import type { MemoryStore } from '../store/memory-store.js';
import { ledgerLine } from './ledger-lines.js';
import { putSegment } from './ledger-segments.js';

export const NOW = Date.parse('2026-03-04T12:30:00.000Z');
export const FIRST = Date.parse('2026-03-04T05:59:00.000Z');
export const iso = (time: number) => new Date(time).toISOString();

/** A line: when it was received after `FIRST`, how long after that it was written, and the values that filters see. */
export interface Drawn {
  readonly received: number;
  readonly upload: number;
  readonly job: string;
  readonly region: string;
  readonly source: string;
  readonly outcome: string;
  readonly origin: LedgerOrigin;
  readonly context: Readonly<Record<string, string>> | undefined;
  readonly isDouble: boolean;
}

export const drawnLine: fc.Arbitrary<Drawn> = fc.record({
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
  source: fc.constantFrom('intake', 'elsewhere'),
  outcome: fc.constantFrom('stored', 'failed'),
  origin: fc.constantFrom('callback', 'recovery', 'replay', 'import', 'admin', 'retention'),
  context: fc.constantFrom(undefined, { call: '1' }, { call: '2', constructor: '1' }),
  isDouble: fc.boolean(),
});

export const historyQuery: fc.Arbitrary<DeliveryQuery> = fc.record(
  {
    job: fc.constantFrom('a', 'b'),
    region: fc.constant('us1'),
    outcome: fc.constant('failed'),
    origin: fc.constantFrom('replay', 'admin'),
    without: fc.constantFrom('accesses', 'acts'),
    scope: fc.constant(new Set(['intake'])),
    context: fc.constantFrom('call:1', 'constructor:1'),
    since: fc.integer({ min: 0, max: 7_000_000 }).map((after) => iso(FIRST + after)),
    until: fc.integer({ min: 0, max: 7_000_000 }).map((after) => iso(FIRST + after)),
  },
  { requiredKeys: [] },
);

export function lineOf({ received, job, region, source, outcome, origin, context }: Drawn): LedgerLine {
  const optional = context === undefined ? {} : { context };
  return ledgerLine({
    receivedAt: iso(FIRST + received),
    jobId: job,
    region,
    source,
    outcome,
    origin,
    ...optional,
  });
}

/** Lines that were written together, as a replica does: by hour of receipt. */
export function putLines(store: MemoryStore, written: number, lines: readonly LedgerLine[]): void {
  for (const partition of new Set(lines.map((line) => ledgerPartition(line.receivedAt)))) {
    const together = lines.filter((line) => ledgerPartition(line.receivedAt) === partition);
    putSegment(store, iso(written), together, partition);
  }
}

export function putAll(store: MemoryStore, all: readonly Drawn[]): LedgerLine[] {
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

export function matchesQuery(
  line: LedgerLine,
  { job, region, outcome, origin, without, scope, context, since, until }: DeliveryQuery,
): boolean {
  const hidden = job === undefined ? ['admin', 'retention'] : [];
  if (without === 'accesses') hidden.push('admin');
  if (without === 'acts') hidden.push('admin', 'replay', 'import');
  const values = Object.entries(line.context ?? {}).map((entry) => entry.join(':'));
  return (
    (context === undefined || values.includes(context)) &&
    (job === undefined || line.jobId === job) &&
    (region === undefined || line.region === region) &&
    (outcome === undefined || line.outcome === outcome) &&
    (origin === undefined ? !hidden.includes(line.origin) : line.origin === origin) &&
    isInScope(scope ?? null, line.source) &&
    (since === undefined || line.receivedAt >= since) &&
    (until === undefined || line.receivedAt < until)
  );
}

export const identityOf = (line: LedgerLine) => `${line.receivedAt} ${line.deliveryId} ${line.outcome}`;
export const newestFirst = (lines: readonly LedgerLine[]) => lines.map(identityOf).sort().reverse();

/** All pages of a query; `between` is called after each of them. */
export async function collectPages(
  view: Pick<LedgerView, 'deliveries'>,
  query: DeliveryQuery,
  between: (back: string) => Promise<void> | void = () => undefined,
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
    if (cursor !== null) await between(back);
    expect(++pages).toBeLessThan(1000);
  } while (cursor !== null);
  return shown;
}
