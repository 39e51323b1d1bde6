import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LedgerLine } from '../../../../../src/domain/delivery.js';
import { hourFolder, ledgerPartition, rollupKey } from '../../../../../src/ledger/ledger-keys.js';
import {
  createLedgerView,
  type LedgerView,
  type LedgerViewOptions,
} from '../../../../../src/ledger/read/ledger-view.js';
import { putCompacted, putDaily } from '../../../../support/ledger/compacted-hours.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../../support/ledger/ledger-segments.js';
import { createMemoryStore, type MemoryStore } from '../../../../support/store/memory-store.js';

const NOW = Date.parse('2026-03-24T12:30:00.000Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const iso = (time: number) => new Date(time).toISOString();
const at = (time: number, overrides: Partial<LedgerLine> = {}) =>
  ledgerLine({ receivedAt: iso(time), ...overrides });

const views: LedgerView[] = [];
async function load(store: MemoryStore, options: Partial<LedgerViewOptions> = {}): Promise<LedgerView> {
  const view = createLedgerView({ store, clock: () => NOW, ...options });
  views.push(view);
  await view.refresh();
  return view;
}
afterEach(async () => {
  await Promise.all(views.splice(0).map((view) => view.stop()));
});

/** Compacts the given lines of an hour; returns the rollup's key. */
function compact(store: MemoryStore, lines: readonly LedgerLine[], n = 1, files = n): Promise<string> {
  return putCompacted(store, lines[0]?.receivedAt ?? '', n, lines, { files });
}

function removeSegments(store: MemoryStore, hour: string): void {
  for (const key of store.objects.keys())
    if (key.startsWith(ledgerPartition(hour))) store.objects.delete(key);
}

interface Plan {
  readonly lines: readonly {
    readonly ago: number;
    readonly outcome: string;
    readonly region: string;
    readonly source: string | null;
    readonly origin: 'callback' | 'admin';
  }[];
  /** Who asks may see only the source `intake`. */
  readonly scoped: boolean;
  /** What happened to each hour, by its number back from now. */
  readonly hours: readonly ('open' | 'compacted' | 'in two files' | 'removed')[];
  readonly dailies: readonly ('none' | 'one')[];
  readonly maxBytes: number;
  readonly windowDays: number;
  readonly range: { readonly since: number; readonly length: number; readonly buckets: number };
}

const PLAN: fc.Arbitrary<Plan> = fc.record({
  lines: fc.array(
    fc.record({
      ago: fc.oneof(fc.integer({ min: 0, max: 10 * HOUR }), fc.integer({ min: 0, max: 14 * DAY })),
      outcome: fc.constantFrom('stored', 'refused', 'duplicate'),
      region: fc.constantFrom('eu1', 'us1'),
      source: fc.constantFrom('intake', 'intake', 'elsewhere', null),
      origin: fc.constantFrom('callback', 'callback', 'callback', 'admin'),
    }),
    { maxLength: 60 },
  ),
  scoped: fc.boolean(),
  hours: fc.array(fc.constantFrom('open', 'compacted', 'in two files', 'removed'), {
    minLength: 400,
    maxLength: 400,
  }),
  dailies: fc.array(fc.constantFrom('none', 'one'), {
    minLength: 20,
    maxLength: 20,
  }),
  maxBytes: fc.constantFrom(3_500, 12_000, 1_000_000),
  windowDays: fc.constantFrom(1, 7),
  range: fc.record({
    since: fc.integer({ min: HOUR, max: 15 * DAY }),
    length: fc.integer({ min: 1, max: 15 * DAY }),
    buckets: fc.integer({ min: 1, max: 100 }),
  }),
});

/** Builds the ledger of a plan; returns its lines and the hours that a rollup holds. */
async function build(store: MemoryStore, plan: Plan) {
  const lines = plan.lines.map(({ ago, ...rest }) => at(NOW - ago, { ...rest, durationMs: ago % 977 }));
  const hours = new Map<string, LedgerLine[]>();
  for (const line of lines) {
    putSegment(store, line.receivedAt, [line]);
    const hour = `${line.receivedAt.slice(0, 13)}:00:00.000Z`;
    hours.set(hour, [...(hours.get(hour) ?? []), line]);
  }
  const compacted = new Map<string, string[]>();
  for (const [hour, held] of hours) {
    const back = Math.floor((NOW - Date.parse(hour)) / HOUR);
    const fate = plan.hours[back] ?? 'open';
    if (fate === 'open' || back < 6) continue;
    const isDivided = fate === 'in two files' && held.length > 1;
    const files = isDivided ? [held.slice(1), held.slice(0, 1)] : [held];
    for (const [index, file] of files.entries()) {
      const key = await compact(store, file, index + 1, files.length);
      compacted.set(hour, [...(compacted.get(hour) ?? []), key]);
    }
    if (fate === 'removed') removeSegments(store, hour);
  }
  const days = new Set([...hours.keys()].map((hour) => hour.slice(0, 10)));
  for (const day of days) {
    const ofDay = [...hours.keys()].filter((hour) => hour.startsWith(day));
    const isOver = NOW - Date.parse(day) > 2 * DAY;
    const dailies = plan.dailies[new Date(day).getUTCDate() % 20] ?? 'none';
    if (!isOver || dailies === 'none' || !ofDay.every((hour) => compacted.has(hour))) continue;
    const keys = ofDay.flatMap((hour) => compacted.get(hour) ?? []);
    putDaily(store, day, keys);
  }
  return { lines, compacted: new Set(compacted.keys()) };
}

function countBy(lines: readonly LedgerLine[], field: 'outcome' | 'region'): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const line of lines) counts[String(line[field])] = (counts[String(line[field])] ?? 0) + 1;
  return counts;
}

describe('the summary', () => {
  it('counts every line once, or names the gap it lies in', async () => {
    await fc.assert(
      fc.asyncProperty(PLAN, async (plan) => {
        const store = createMemoryStore();
        const { lines, compacted } = await build(store, plan);
        const view = await load(store, { maxBytes: plan.maxBytes, windowMs: plan.windowDays * DAY });
        const since = NOW - plan.range.since;
        const until = Math.min(NOW + 1, since + plan.range.length);
        const summary = await view.summary({
          since: iso(since),
          until: iso(until),
          buckets: plan.range.buckets,
          scope: plan.scoped ? new Set(['intake']) : null,
        });

        expect(summary.since <= iso(since) && summary.until >= iso(until)).toBe(true);
        expect(summary.buckets.length).toBeLessThanOrEqual(plan.range.buckets + 1);
        const inGap = ({ receivedAt }: LedgerLine) =>
          summary.gaps.some((gap) => receivedAt >= gap.since && receivedAt < gap.until);
        const within = lines.filter(
          ({ receivedAt, source, origin }) =>
            // Who looked at content is no delivery.
            origin !== 'admin' &&
            receivedAt >= summary.since &&
            receivedAt < summary.until &&
            (!plan.scoped || source === 'intake'),
        );
        const counted = within.filter((line) => !inGap(line));
        expect(summary.total.lines).toBe(counted.length);
        expect(summary.total.outcomes).toEqual(countBy(counted, 'outcome'));
        expect(summary.total.regions).toEqual(countBy(counted, 'region'));
        expect(summary.total.duration?.max ?? null).toBe(
          counted.length === 0 ? null : Math.max(...counted.map(({ durationMs }) => durationMs)),
        );
        for (const [index, { start, lines: number }] of summary.buckets.entries()) {
          const end = summary.buckets[index + 1]?.start ?? summary.until;
          const expected = counted.filter(({ receivedAt }) => receivedAt >= start && receivedAt < end);
          expect(number).toBe(expected.length);
        }
        const hidden = within.filter(inGap).map(({ receivedAt }) => `${receivedAt.slice(0, 13)}:00:00.000Z`);
        expect(hidden.filter((hour) => compacted.has(hour))).toEqual([]);
        const held = view.status().completeSince ?? '~';
        expect(within.filter(inGap).filter(({ receivedAt }) => receivedAt >= held)).toEqual([]);
        expect(summary.faults).toEqual([]);
        if (plan.scoped) {
          expect(summary.last.byRegion).toEqual({});
          expect(Object.keys(summary.last.bySource).filter((source) => source !== 'intake')).toEqual([]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('has at most one bucket more than requested, where the period begins just before a bucket', async () => {
    const store = createMemoryStore();
    const line = at(NOW - 8.5 * HOUR);
    putSegment(store, line.receivedAt, [line]);
    await compact(store, [line]);
    removeSegments(store, line.receivedAt);
    const view = await load(store, { windowMs: HOUR });
    const since = iso(NOW - 8.5 * HOUR - 1);
    const summary = await view.summary({ since, until: iso(NOW + 1), buckets: 51 });
    expect(summary.buckets.length).toBe(52);
    expect(summary.total.lines).toBe(1);
  });

  it('counts a line in the bucket that begins at or before it, however short buckets are', async () => {
    const store = createMemoryStore();
    putSegment(store, iso(NOW - 11), [at(NOW - 11)]);
    const summary = await (await load(store)).summary({
      since: iso(NOW - 21),
      until: iso(NOW),
      buckets: 2,
    });
    expect(summary.buckets.map(({ start, lines }) => [start, lines])).toEqual([
      [iso(NOW - 21), 1],
      [iso(NOW - 10), 0],
    ]);
  });

  it('counts what memory no longer holds while it follows the ledger, by the time of writing', async () => {
    const store = createMemoryStore();
    let now = NOW;
    putSegment(store, iso(NOW - 1000), [at(NOW - 2000)]);
    const view = await load(store, { maxBytes: 3_500, clock: () => now });
    const written: number[] = [];
    const lines: LedgerLine[] = [];
    for (let minute = 0; minute < 90; minute += 1) {
      now = NOW + minute * 60_000;
      // Every tenth delivery took an hour.
      const received = minute % 10 === 9 ? now - HOUR : now;
      const line = at(Math.max(NOW, received), { outcome: minute % 2 === 0 ? 'stored' : 'duplicate' });
      lines.push(line);
      written.push(now);
      putSegment(store, iso(now), [line]);
      await view.refresh();
    }
    now += 4 * 60_000;
    await view.refresh();
    const summary = await view.summary({ since: iso(NOW), buckets: 10 });
    expect(view.status().rows).toBeLessThan(10);
    expect(summary.gaps).toEqual([]);
    expect(summary.resolutionMs).toBe(600_000);
    expect(summary.total.outcomes).toEqual(countBy(lines, 'outcome'));
    for (const [index, { start, lines: number }] of summary.buckets.entries()) {
      const end = summary.buckets[index + 1]?.start ?? summary.until;
      expect(number).toBe(written.filter((time) => iso(time) >= start && iso(time) < end).length);
    }
  });

  it.each([true, false])('counts an hour that is held in part once (compacted: %s)', async (compacted) => {
    const store = createMemoryStore();
    const begin = Date.parse('2026-03-24T05:00:00.000Z');
    const lines = Array.from({ length: 300 }, (_, index) => at(begin + index * 11_000));
    for (const line of lines) putSegment(store, line.receivedAt, [line]);
    if (compacted) await compact(store, lines);
    const view = await load(store, { maxBytes: 100_000 });
    const { total, gaps } = await view.summary();
    if (compacted) {
      expect(gaps).toEqual([]);
      expect(total.lines).toBe(300);
    } else {
      const [gap] = gaps;
      expect(gap?.since).toBe(iso(begin));
      expect(total.lines).toBe(lines.filter(({ receivedAt }) => receivedAt >= String(gap?.until)).length);
      expect(total.lines).toBeGreaterThanOrEqual(50);
    }
  });

  it('reads a year as one listing and an object a day, once', async () => {
    const store = createMemoryStore();
    for (let day = 2; day < 365; day += 1) {
      const line = at(NOW - day * DAY);
      putDaily(store, line.receivedAt.slice(0, 10), [await compact(store, [line])]);
    }
    const view = await load(store, { windowMs: HOUR });
    store.calls.length = 0;
    const year = { since: iso(NOW - 364 * DAY), buckets: 60 };
    const { total, buckets, resolutionMs } = await view.summary(year);
    expect(total.lines).toBe(363);
    expect(resolutionMs).toBe(DAY);
    expect(buckets.map(({ start }) => start.slice(10)).every((time) => time === 'T00:00:00.000Z')).toBe(true);
    const daily = store.calls.filter(({ key }) => key.startsWith('rollups-daily/'));
    expect(daily.filter(({ operation }) => operation === 'read')).toHaveLength(363);
    expect(store.calls.length).toBeLessThan(375);
    store.calls.length = 0;
    await view.summary(year);
    expect(store.calls).toEqual([]);
  });

  it('names a damaged rollup, and the hour it hides', async () => {
    const store = createMemoryStore();
    const [good, hidden] = [at(NOW - 30 * HOUR), at(NOW - 31 * HOUR)];
    await compact(store, [good]);
    const key = rollupKey(hourFolder(hidden.receivedAt), 1);
    store.put(key, '{"v":1,"hour":');
    const view = await load(store, { windowMs: HOUR });
    const summary = await view.summary({ since: iso(NOW - 40 * HOUR) });
    expect(summary.total.lines).toBe(1);
    expect(summary.gaps).toEqual([{ since: '2026-03-23T05:00:00.000Z', until: '2026-03-23T06:00:00.000Z' }]);
    expect(summary.faults).toEqual([`${key} is damaged or of a newer version`]);
  });

  it('answers from memory while the store fails, and says so', async () => {
    let failing = false;
    const store = createMemoryStore(() => {
      if (failing) throw new Error('no route to the store');
    });
    putSegment(store, iso(NOW), [at(NOW - 1000)]);
    const view = await load(store, { windowMs: HOUR });
    failing = true;
    const summary = await view.summary({ since: iso(NOW - 10 * DAY) });
    expect(summary.total.lines).toBe(1);
    expect(summary.gaps).toEqual([{ since: summary.since, until: '2026-03-24T11:00:00.000Z' }]);
    expect(summary.faults).toEqual(['no route to the store']);
  });

  it('knows the last delivery of a source from the rollups of seven days', async () => {
    const store = createMemoryStore();
    const old = at(NOW - 3 * DAY, { source: 'rare', region: 'au1', credential: 'second' });
    await compact(store, [old]);
    const view = await load(store, { windowMs: HOUR });
    expect(await view.summary()).toMatchObject({
      last: {
        bySource: { rare: old.receivedAt },
        byRegion: { au1: old.receivedAt },
        byCredential: { 'rare/second': old.receivedAt },
      },
    });
  });
});
