import { setImmediate as immediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { openFailure, settles } from '../../../../src/domain/failure-rules.js';
import { isInScope, type SourceScope } from '../../../../src/domain/rights.js';
import { compactHour } from '../../../../src/ledger/compact/compact-hour.js';
import { HOUR, hourAt, isWhole } from '../../../../src/ledger/hours.js';
import { createLedgerView, type FailurePage } from '../../../../src/ledger/read/ledger-view.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

/**
 * The open failures of a view against the rule over all lines: hours are compacted in any order while lines arrive, leave memory, and
 * find no room, files are damaged, the store fails, and the process starts again.
 */

const START = Date.parse('2026-03-04T08:00:00.000Z');
const MINUTE = 60_000;
/** More than the history waits between two runs. */
const STEP = 11_000;
const ONE_SOURCE: SourceScope = new Set(['intake']);
const iso = (time: number) => new Date(time).toISOString();

const drawnLine = fc.record({
  job: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
  outcome: fc.constantFrom(
    ...['failed', 'refused', 'conflict', 'unrecoverable', 'failed', 'refused', 'stored', 'duplicate'],
    ...['noted', 'recovered', 'chosen', 'acknowledged', 'erased'],
  ),
  source: fc.constantFrom('intake', 'elsewhere'),
  /** Milliseconds from its receipt until it was written. */
  delay: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 3000 }),
    fc.integer({ min: 0, max: 12 }).map((steps) => steps * 15 * MINUTE),
  ),
});

const drawnSegment = fc.record({
  writer: fc.constantFrom('one', 'two'),
  lines: fc.array(drawnLine, { minLength: 1, maxLength: 3 }),
});

const drawnStep = fc.oneof(
  { weight: 8, arbitrary: drawnSegment.map((segment) => ({ kind: 'write', ...segment }) as const) },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(1, 10, 30, 60, 100)
      .map((minutes) => ({ kind: 'wait', for: minutes * MINUTE }) as const),
  },
  {
    weight: 5,
    arbitrary: fc
      .record({ pick: fc.nat({ max: 9 }), fileBytes: fc.constantFrom(48 * 1024 * 1024, 900) })
      .map((hour) => ({ kind: 'compact', ...hour }) as const),
  },
  { weight: 4, arbitrary: fc.constant({ kind: 'update' } as const) },
  {
    weight: 2,
    arbitrary: fc
      .record({ turns: fc.nat({ max: 40 }), segment: drawnSegment })
      .map((during) => ({ kind: 'write during update', ...during }) as const),
  },
  { weight: 1, arbitrary: fc.nat({ max: 30 }).map((calls) => ({ kind: 'store fails', calls }) as const) },
  {
    weight: 1,
    arbitrary: fc
      .record({ minutes: fc.constantFrom(70, 90, 200, 400), segment: drawnSegment })
      .map((outage) => ({ kind: 'store is away', ...outage }) as const),
  },
  {
    weight: 1,
    arbitrary: fc
      .record({ pick: fc.nat({ max: 9 }), byte: fc.nat({ max: 100_000 }) })
      .map((file) => ({ kind: 'damage', ...file }) as const),
  },
  { weight: 1, arbitrary: fc.boolean().map((waits) => ({ kind: 'restart', waits }) as const) },
);

const drawnMemory = fc.record({
  maxBytes: fc.constantFrom(1, 4000, 8000, 16_000, 1_000_000),
  windowMs: fc.constantFrom(HOUR, 2 * HOUR, 168 * HOUR),
  retention: fc.constantFrom(5 * HOUR, 168 * HOUR),
});

type Segment = typeof drawnSegment extends fc.Arbitrary<infer T> ? T : never;
type Step = typeof drawnStep extends fc.Arbitrary<infer T> ? T : never;
type Memory = typeof drawnMemory extends fc.Arbitrary<infer T> ? T : never;

interface Written {
  readonly line: LedgerLine;
  readonly written: number;
}

function createRun({ maxBytes, windowMs, retention }: Memory) {
  let now = START;
  /** Calls that the store answers before it fails; null while it works. */
  let failsAfter: number | null = null;
  let isDamaged = false;
  const all: Written[] = [];
  const store = createMemoryStore(
    async () => {
      await immediate();
      if (failsAfter === null) return;
      failsAfter -= 1;
      if (failsAfter < 0) throw new StoreError('test', 'the store is away');
    },
    () => now,
  );
  const newView = () =>
    createLedgerView({ store, clock: () => now, maxBytes, windowMs, retention, patience: 1 });
  let view = newView();

  function write({ writer, lines }: Segment): void {
    const made = lines.map(({ job, outcome, source, delay }) =>
      ledgerLine({ jobId: job, outcome, source, receivedAt: iso(now - delay) }),
    );
    putSegment(store, iso(now), made, writer);
    for (const line of made) all.push({ line, written: now });
  }

  async function compact(hour: string, fileBytes: number): Promise<void> {
    if (isWhole(hour, now))
      await compactHour({ store, clock: () => now, keepSegments: null, fileBytes }, hour);
  }

  function damage(pick: number, byte: number): void {
    const files = [...store.objects.keys()].filter((key) => /^(ledger-parquet|rollups)\//.test(key)).sort();
    const key = files[pick % files.length];
    const held = key === undefined ? undefined : store.objects.get(key);
    if (key === undefined || held === undefined) return;
    const body = Buffer.from(key.endsWith('.json') ? '{}' : held.body);
    body[byte % body.length] = (body[byte % body.length] ?? 0) ^ 0x10;
    store.objects.set(key, { ...held, body });
    isDamaged = true;
  }

  async function restart(waits: boolean): Promise<void> {
    await view.stop();
    view = newView();
    if (waits) await refresh();
    else view.start();
  }

  async function refresh(): Promise<void> {
    now += STEP;
    await view.refresh().catch((error: unknown) => {
      if (!(error instanceof StoreError)) throw error;
    });
  }

  async function update(): Promise<void> {
    await refresh();
    await view.readPast();
  }

  async function writeDuringUpdate(turns: number, segment: Segment): Promise<void> {
    await refresh();
    const updating = view.readPast();
    for (let turn = 0; turn < turns; turn += 1) await immediate();
    await check();
    write(segment);
    await refresh();
    await check();
    await updating;
  }

  async function failDuring(calls: number): Promise<void> {
    failsAfter = calls;
    await update();
    failsAfter = null;
    await refresh();
    await check();
  }

  /** Another replica writes meanwhile. */
  async function beAway(minutes: number, segment: Segment): Promise<void> {
    for (let part = 0; part < 3; part += 1) {
      write(segment);
      failsAfter = 0;
      await refresh();
      expect((await view.openFailures({ limit: 1 })).complete).toBe(false);
      now += (minutes * MINUTE) / 3;
    }
    failsAfter = null;
  }

  async function check(): Promise<void> {
    for (const scope of [null, ONE_SOURCE]) {
      const page = await view.openFailures({ limit: 100, scope });
      expectHonest(page, all, { oldest: now - retention, scope });
    }
  }

  async function take(step: Step): Promise<void> {
    now += 1;
    if (step.kind === 'write') write(step);
    if (step.kind === 'wait') now += step.for;
    if (step.kind === 'compact') {
      const hours = [...new Set(all.map(({ written }) => hourAt(written)))];
      const hour = hours[step.pick % hours.length];
      if (hour !== undefined) await compact(hour, step.fileBytes);
    }
    if (step.kind === 'update') await update();
    if (step.kind === 'write during update') await writeDuringUpdate(step.turns, step.segment);
    if (step.kind === 'store fails') await failDuring(step.calls);
    if (step.kind === 'store is away') await beAway(step.minutes, step.segment);
    if (step.kind === 'damage') damage(step.pick, step.byte);
    if (step.kind === 'restart') await restart(step.waits);
    await refresh();
    await check();
  }

  /** All hours are compacted, and the view, or one that is started then, has all the time it needs. */
  async function finish(): Promise<void> {
    now += 2 * HOUR;
    for (const hour of new Set(all.map(({ written }) => hourAt(written)))) await compact(hour, 900);
    for (const starts of [false, true]) {
      if (starts) await restart(true);
      for (let round = 0; round < 12; round += 1) await update();
      await check();
      const { complete, faults } = await view.openFailures({ limit: 100 });
      const open = openByRule(all, { oldest: now - retention, scope: null });
      const hasRoom = open.length * 2 * JOB_BYTES < maxBytes * 0.25 * 0.75;
      if (hasRoom && !isDamaged) expect({ complete, faults }).toEqual({ complete: true, faults: [] });
    }
    await view.stop();
  }

  return { take, finish };
}

/** A failing job with a line, at most: without reasons they are short. */
const JOB_BYTES = 1600;

interface Looked {
  readonly oldest: number;
  readonly scope: SourceScope;
}

const keyOf = ({ jobId, receivedAt, outcome }: LedgerLine) =>
  `${jobId} ${receivedAt}${outcome === 'conflict' ? ' conflict' : ''}`;

function openByRule(all: readonly Written[], { oldest, scope }: Looked): Written[] {
  const jobs = new Set(all.map(({ line }) => line.jobId));
  return [...jobs].flatMap((job) => {
    const own = all.filter(({ line }) => line.jobId === job);
    const isVisible = ({ source, receivedAt }: LedgerLine) =>
      isInScope(scope, source) && Date.parse(receivedAt) >= oldest;
    const open = openFailure(
      own.map(({ line }) => line),
      isVisible,
    );
    return own.filter(({ line }) => line === open);
  });
}

function expectHonest(page: FailurePage, all: readonly Written[], looked: Looked): void {
  const open = openByRule(all, looked);
  if (page.complete) {
    expect(page.failures.map(keyOf).sort()).toEqual(open.map(({ line }) => keyOf(line)).sort());
    return;
  }
  expect(page.faults).not.toEqual([]);
  const since = Date.parse(page.searchedBackTo);
  const isFull = page.faults.some((fault) => fault.includes('ledger.viewMemory'));
  const jobs = page.failures.map(({ jobId }) => jobId);
  for (const { line, written } of open) if (written >= since && !isFull) expect(jobs).toContain(line.jobId);
  for (const failure of page.failures) {
    const failed = timed(failure);
    const settling = all.filter(
      ({ line, written }) => written >= since && line.jobId === failure.jobId && settles(timed(line), failed),
    );
    expect(settling).toEqual([]);
  }
}

const timed = ({ outcome, receivedAt }: LedgerLine) => ({ outcome, time: Date.parse(receivedAt) });

const line = (job: 'a' | 'b' | 'c' | 'd', outcome = 'failed', source: 'intake' | 'elsewhere' = 'intake') => ({
  ...{ job, outcome, source },
  delay: 0,
});
const write = (...lines: Segment['lines']): Step => ({ kind: 'write', writer: 'one', lines });
const WHOLE_FILE = 48 * 1024 * 1024;
const FEW_HOURS = { windowMs: HOUR, retention: 5 * HOUR };

/** Each was listed wrongly once. */
const EXAMPLES: [Memory, Step[]][] = [
  // Another source's failure hid that of the only source that the client may see.
  [
    { ...FEW_HOURS, maxBytes: 1_000_000 },
    [
      write(line('a'), line('a', 'failed', 'elsewhere')),
      { kind: 'wait', for: 100 * MINUTE },
      { kind: 'compact', pick: 0, fileBytes: WHOLE_FILE },
      { kind: 'restart', waits: true },
      { kind: 'update' },
    ],
  ],
  // A failure without room was forgotten while its hour was read.
  [
    { ...FEW_HOURS, maxBytes: 1 },
    [
      { kind: 'wait', for: 100 * MINUTE },
      write(line('a'), line('d')),
      { kind: 'wait', for: 40 * MINUTE },
      { kind: 'compact', pick: 0, fileBytes: WHOLE_FILE },
      { kind: 'update' },
    ],
  ],
  // Memory claimed lines that it had dropped while it was filled.
  [
    { ...FEW_HOURS, maxBytes: 1_000_000 },
    [
      { kind: 'wait', for: 10 * MINUTE },
      write(line('a')),
      { kind: 'wait', for: 10 * MINUTE },
      { kind: 'restart', waits: false },
      { kind: 'wait', for: 100 * MINUTE },
      { kind: 'wait', for: MINUTE },
    ],
  ],
  // A failure that was never in memory was passed over, for one without room in its hour was received later.
  [
    { ...FEW_HOURS, maxBytes: 8000 },
    [
      write(line('c'), line('a')),
      write(line('a'), line('a')),
      write(line('a'), line('b')),
      write(line('a'), line('a')),
      { kind: 'restart', waits: false },
      write(line('a', 'refused')),
      write(line('a', 'recovered')),
      { kind: 'update' },
    ],
  ],
  // A failure in a file was listed before the line in memory that settles it was looked at.
  [
    { ...FEW_HOURS, maxBytes: 1_000_000 },
    [
      write(line('a')),
      { kind: 'wait', for: 30 * MINUTE },
      { kind: 'wait', for: 100 * MINUTE },
      { kind: 'restart', waits: false },
      write(line('a', 'recovered'), line('a')),
      { kind: 'compact', pick: 0, fileBytes: WHOLE_FILE },
      { kind: 'compact', pick: 1, fileBytes: WHOLE_FILE },
      { kind: 'update' },
    ],
  ],
];

describe('the open failures of a view', () => {
  it('are those of the rule wherever it looked, at any time', async () => {
    await fc.assert(
      fc.asyncProperty(
        drawnMemory,
        fc.array(drawnStep, { minLength: 3, maxLength: 40 }),
        async (memory, steps) => {
          const run = createRun(memory);
          for (const step of steps) await run.take(step);
          await run.finish();
        },
      ),
      // Another seed draws other runs.
      { numRuns: 40, seed: 13, examples: EXAMPLES },
    );
  }, 240_000);
});
