import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { Problem } from '../../../../src/domain/problem.js';
import {
  createLedgerView,
  type LedgerView,
  type LedgerViewOptions,
} from '../../../../src/ledger/read/ledger-view.js';
import { type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';
import { until } from '../../../support/until.js';

const NOW = '2026-03-04T12:30:00.000Z';
const iso = (time: number) => new Date(time).toISOString();
const at = (receivedAt: string, overrides: Partial<LedgerLine> = {}) =>
  ledgerLine({ receivedAt, ...overrides });

describe('ledger view', () => {
  const views: LedgerView[] = [];
  let now = Date.parse(NOW);

  function open(store: ObjectStore, options: Partial<LedgerViewOptions> = {}): LedgerView {
    now = Date.parse(NOW);
    const view = createLedgerView({ store, clock: () => now, ...options });
    views.push(view);
    return view;
  }
  afterEach(async () => {
    await Promise.all(views.splice(0).map((view) => view.stop()));
  });

  async function ids(
    view: LedgerView,
    query: Parameters<LedgerView['deliveries']>[0] = {},
  ): Promise<string[]> {
    return (await view.deliveries(query)).deliveries.map((line) => line.deliveryId);
  }

  it('shows the lines of all replicas, newest first, as they were written', async () => {
    const store = createMemoryStore();
    const lines = [10, 11, 12].map((hour) => at(`2026-03-04T${hour}:00:00.000Z`, { reason: `grüß ${hour}` }));
    const unknown = { ...at('2026-03-04T12:01:00.000Z'), colour: 'blue' };
    putSegment(store, '2026-03-04T12:02:00.000Z', [unknown]);
    for (const line of lines) putSegment(store, line.receivedAt, [line]);
    const view = open(store);
    view.start();

    const page = await view.deliveries();
    expect(page).toEqual({
      deliveries: [unknown, ...lines.toReversed()],
      nextCursor: null,
      complete: true,
      searchedBackTo: null,
      faults: [],
    });
    await until(() => view.status().rows === 4);
    expect(view.status()).toMatchObject({ state: 'ready', error: null, refreshedAt: NOW });
  });

  it('counts damaged lines and lines of a newer version apart, and reports the latter once', async () => {
    const store = createMemoryStore();
    const line = at('2026-03-04T12:01:00.000Z');
    const newer = JSON.stringify({ ...line, v: 2 });
    const mixed = putSegment(store, '2026-03-04T12:02:00.000Z', [newer, line, '{"v":1', newer]);
    const later = putSegment(store, '2026-03-04T12:03:00.000Z', [newer]);
    const reported: string[] = [];
    const view = open(store, { onNewerLines: (key) => reported.push(key) });
    await view.refresh();

    expect(await ids(view)).toEqual([line.deliveryId]);
    expect(view.status().broken).toEqual({ count: 1, segments: [{ key: mixed, lines: 1 }] });
    expect(view.status().newer).toEqual({
      count: 3,
      segments: [
        { key: later, lines: 1 },
        { key: mixed, lines: 2 },
      ],
    });
    expect(reported).toHaveLength(1);
  });

  it('follows new segments of every writer, in the order of writing', async () => {
    const store = createMemoryStore();
    const first = at('2026-03-04T12:20:00.000Z');
    putSegment(store, '2026-03-04T12:20:00.000Z', [first]);
    const view = open(store);
    await view.refresh();

    const fresh = at('2026-03-04T12:29:59.000Z');
    const slowClock = at('2026-03-04T12:18:30.000Z');
    const longUpload = at('2026-03-04T08:00:00.000Z');
    putSegment(store, '2026-03-04T12:29:59.100Z', [fresh], 'another');
    putSegment(store, '2026-03-04T12:29:59.200Z', [slowClock]);
    putSegment(store, '2026-03-04T12:29:59.300Z', [longUpload], 'third');
    await view.refresh();
    expect(await ids(view)).toEqual([longUpload, slowClock, fresh, first].map((line) => line.deliveryId));
  });

  it('reads no segment twice, and lists little while it follows', async () => {
    const store = createMemoryStore();
    for (let hour = 0; hour <= 12; hour += 1) {
      const instant = new Date(Date.parse('2026-03-04T00:00:00Z') + hour * 3_600_000).toISOString();
      putSegment(store, instant, [at(instant)]);
    }
    const view = open(store);
    await view.refresh();
    store.calls.length = 0;
    await view.refresh();
    expect(store.calls).toEqual([{ operation: 'list', key: 'ledger/dt=2026-03-04/hour=12/' }]);
  });

  describe('bounded in bytes', () => {
    const secondOf = (n: number) => new Date(Date.parse(NOW) - (400 - n) * 1000).toISOString();
    const longLine = (n: number) => at(secondOf(n), { reason: randomBytes(1000).toString('hex') });

    it('ends the first load when its memory is spent, newest first', async () => {
      const store = createMemoryStore();
      const lines = Array.from({ length: 400 }, (_, n) => longLine(n));
      for (const line of lines) putSegment(store, line.receivedAt, [line]);
      const view = open(store, { maxBytes: 64 * 1024 });
      await view.refresh();
      const { rows, completeSince } = view.status();
      expect(rows).toBeGreaterThan(10);
      expect(rows).toBeLessThan(64);
      expect(Date.parse(completeSince ?? '')).toBeGreaterThan(Date.parse(secondOf(400 - rows - 1)));
      expect(Date.parse(completeSince ?? '')).toBeLessThanOrEqual(Date.parse(secondOf(400 - rows)));
      expect(store.calls.filter(({ operation }) => operation === 'read').length).toBeLessThan(300);
      expect(await ids(view, { limit: 100, since: secondOf(0) })).toEqual(
        lines
          .slice(-100)
          .map(({ deliveryId }) => deliveryId)
          .toReversed(),
      );
    });

    it('counts long lines as more than short ones', async () => {
      const held = async (line: (n: number) => LedgerLine) => {
        const store = createMemoryStore();
        for (let n = 0; n < 400; n += 1) putSegment(store, secondOf(n), [line(n)]);
        const view = open(store, { maxBytes: 128 * 1024 });
        await view.refresh();
        return view.status().rows;
      };
      const short = await held((n) => at(secondOf(n)));
      expect(short).toBeGreaterThan(2 * (await held(longLine)));
    });

    it('drops the oldest lines as later ones arrive', async () => {
      const store = createMemoryStore();
      const view = open(store, { maxBytes: 64 * 1024 });
      await view.refresh();
      for (let n = 0; n < 400; n += 50) {
        putSegment(
          store,
          secondOf(n + 49),
          Array.from({ length: 50 }, (_, index) => longLine(n + index)),
        );
        now = Date.parse(secondOf(n + 50));
        await view.refresh();
      }
      const { rows, completeSince } = view.status();
      expect(rows).toBeLessThan(64);
      expect(Date.parse(completeSince ?? '')).toBeGreaterThan(Date.parse(secondOf(300)));
      const { total } = await view.summary({ since: secondOf(0), until: secondOf(401) });
      expect(total.lines).toBe(400);
    });
  });

  it('drops several lines at once when its memory is full: each time costs as much as all that stay', async () => {
    const store = createMemoryStore();
    const view = open(store, { maxBytes: 64 * 1024 });
    await view.refresh();
    const rows: number[] = [];
    for (let n = 0; n < 200; n += 1) {
      const receivedAt = new Date(Date.parse(NOW) + n).toISOString();
      putSegment(store, receivedAt, [at(receivedAt)]);
      await view.refresh();
      rows.push(view.status().rows);
    }
    const drops = rows.filter((count, n) => n > 0 && count <= (rows[n - 1] ?? 0));
    expect(Math.max(...rows)).toBeLessThan(150);
    expect(drops.length).toBeGreaterThan(3);
    expect(drops.length).toBeLessThan(40);
  });

  it('finds a job that left memory without reading the segments of others', async () => {
    const store = createMemoryStore();
    const view = open(store, { maxBytes: 200_000 });
    await view.refresh();
    for (let n = 0; n < 1000; n += 1) {
      now += 100;
      putSegment(store, iso(now), [at(iso(now), { jobId: `job${n}` })]);
      if (n % 100 === 99) await view.refresh();
    }
    expect(view.status().rows).toBeLessThan(500);
    // Of a writer that is seen late: the lines in memory begin later.
    putSegment(store, iso(now - 90_000), [at(iso(now - 90_000), { jobId: 'late' })], 'other');
    now += 60_000;
    await view.refresh();
    const query = { since: NOW, until: iso(now + 1) };
    for (const job of ['job50', 'job1', 'late']) {
      store.calls.length = 0;
      const page = await view.deliveries({ ...query, job });
      expect(page.deliveries.map(({ jobId }) => jobId)).toEqual([job]);
      expect(page).toMatchObject({ complete: true, nextCursor: null });
      const read = store.calls.filter(({ operation }) => operation === 'read');
      expect(read.length).toBeLessThan(5);
    }
  });

  it('returns the first page before the rest is loaded', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const store = createMemoryStore((operation, key) =>
      operation === 'read' && key.includes('dt=2026-03-01') ? held : undefined,
    );
    const old = at('2026-03-01T12:00:00.000Z');
    const recent = at('2026-03-04T12:00:00.000Z');
    for (const line of [old, recent]) putSegment(store, line.receivedAt, [line]);
    const view = open(store);
    view.start();

    expect(await ids(view, { limit: 1, since: '2026-03-04T00:00:00Z' })).toEqual([recent.deliveryId]);
    expect(view.status()).toMatchObject({ state: 'loading' });
    const whole = ids(view);
    release();
    expect(await whole).toEqual([recent.deliveryId, old.deliveryId]);
  });

  it('filters by every field', async () => {
    const store = createMemoryStore();
    const wanted = {
      jobId: 'wanted',
      source: 'billing',
      region: 'us2',
      status: 'fetch_error',
      outcome: 'conflict',
      origin: 'import',
    } as const;
    const special = at('2026-03-04T12:00:00.000Z', { ...wanted, context: { call: '1=2', other: '3' } });
    const others = ['2026-03-04T11:59:59.999Z', '2026-03-04T12:00:00.001Z'].map((instant) => at(instant));
    // No receiver writes such a context.
    const foreign = at('2026-03-04T11:00:00.000Z', { context: { call: { toString: 1 } } as never });
    putSegment(store, special.receivedAt, [special]);
    putSegment(store, '2026-03-04T12:00:01.000Z', [...others, foreign]);
    const view = open(store);
    await view.refresh();

    const { jobId, ...fields } = wanted;
    for (const [field, value] of Object.entries({ job: jobId, ...fields, context: 'call=1=2' })) {
      expect(await ids(view, { [field]: value })).toEqual([special.deliveryId]);
    }
    expect(await ids(view, { since: special.receivedAt, until: '2026-03-04T12:00:00.001Z' })).toEqual([
      special.deliveryId,
    ]);
    expect(await ids(view, { job: 'nobody' })).toEqual([]);
    expect(await ids(view, { context: 'call=1' })).toEqual([]);
    await expect(ids(view, { context: 'call' })).rejects.toThrow('context must be <name>=<value>');
  });

  it('shows no line received after until, even with a later cursor', async () => {
    const store = createMemoryStore();
    const lines = [8, 9, 10, 11].map((hour) => at(`2026-03-04T${String(hour).padStart(2, '0')}:00:00.000Z`));
    for (const line of lines) putSegment(store, line.receivedAt, [line]);
    const view = open(store);
    await view.refresh();
    const [first, second, third] = lines.map((line) => line.deliveryId);
    const cursor = (await view.deliveries({ limit: 1 })).nextCursor ?? '';
    expect(await ids(view, { cursor, until: '2026-03-04T10:00:00.000Z' })).toEqual([second, first]);
    expect(await ids(view, { cursor, until: NOW })).toEqual([third, second, first]);
  });

  it('reads older days from the store on demand', async () => {
    const store = createMemoryStore();
    const old = ['2025-12-31T23:59:00.000Z', '2026-01-01T00:10:00.000Z'].map((instant) => at(instant));
    const recent = at('2026-03-04T12:00:00.000Z');
    for (const line of [...old, recent]) putSegment(store, line.receivedAt, [line]);
    const view = open(store);
    await view.refresh();
    expect(view.status().rows).toBe(1);

    const page = await view.deliveries();
    expect(page.deliveries).toEqual([recent]);
    const next = await view.deliveries({ cursor: page.nextCursor ?? '' });
    expect(next).toEqual({
      deliveries: old.toReversed(),
      nextCursor: null,
      complete: true,
      searchedBackTo: null,
      faults: [],
    });
    expect(await ids(view, { since: '2026-01-01T00:00:00Z' })).toEqual([
      recent.deliveryId,
      old[1]?.deliveryId,
    ]);
    expect(await ids(view, { until: '2026-01-01T00:00:00Z' })).toEqual([old[0]?.deliveryId]);
  });

  it('bounds the time in which one query reads older hours, and continues from its cursor', async () => {
    const store = createMemoryStore();
    const line = at('2026-01-01T00:00:00.000Z', { jobId: 'wanted' });
    putSegment(store, line.receivedAt, [line]);
    putSegment(store, '2026-01-01T05:00:00.000Z', [at('2026-01-01T05:00:00.000Z')]);
    const view = open(store, { pageTime: 0 });
    await view.refresh();

    const page = await view.deliveries({ job: 'wanted', until: '2026-02-01T00:00:00Z' });
    expect(page).toMatchObject({ deliveries: [], searchedBackTo: '2026-01-01T05:00:00.000Z' });
    const next = await view.deliveries({ job: 'wanted', cursor: page.nextCursor ?? '' });
    expect(next).toMatchObject({ deliveries: [line], faults: [] });
  });

  it('holds no more rows than its bound, and drops those that leave the window', async () => {
    const store = createMemoryStore();
    const lines = Array.from({ length: 90 }, (_, n) => at(`2026-03-04T12:00:00.0${n + 10}Z`));
    for (const line of lines) putSegment(store, line.receivedAt, [line]);
    const view = open(store, { maxBytes: 12_000, windowMs: 2 * 3_600_000 });
    await view.refresh();
    const reads = () => store.calls.filter((call) => call.operation === 'read').length;
    const firstReads = reads();
    await view.refresh();
    expect(reads()).toBe(firstReads);
    expect(view.status().rows).toBeLessThan(20);
    expect(view.status().completeSince?.slice(0, 22)).toBe('2026-03-04T12:00:00.08');
    now += 4 * 3_600_000;
    await view.refresh();
    expect(view.status().rows).toBe(0);
  });

  it('counts broken lines, names their segments, and shows the good ones', async () => {
    const store = createMemoryStore();
    const good = at('2026-03-04T12:00:00.000Z');
    const key = putSegment(store, good.receivedAt, ['{"v":1,"del', good, 'null']);
    const view = open(store);
    await view.refresh();
    await view.refresh();
    expect(await ids(view)).toEqual([good.deliveryId]);
    expect(view.status().broken).toEqual({ count: 2, segments: [{ key, lines: 2 }] });
  });

  it('reports why the store failed, serves the rows it has, and recovers', async () => {
    let fail = false;
    const store = createMemoryStore((operation) => {
      if (fail && operation === 'list') throw new StoreError('list', 'unreachable');
    });
    const line = at('2026-03-04T12:00:00.000Z');
    putSegment(store, line.receivedAt, [line]);
    const view = open(store);
    await view.refresh();
    fail = true;
    await expect(view.refresh()).rejects.toThrow('unreachable');
    expect(view.status()).toMatchObject({ state: 'ready', error: 'list: unreachable' });
    expect(await ids(view)).toEqual([line.deliveryId]);
    fail = false;
    await view.refresh();
    expect(view.status().error).toBeNull();
  });

  it('continues a first load that failed in the middle', async () => {
    let reads = 0;
    const store = createMemoryStore((operation) => {
      if (operation !== 'read') return;
      reads += 1;
      if (reads === 2) throw new StoreError('read', 'reset');
    });
    const lines = [9, 10, 11].map((hour) => at(`2026-03-04T${String(hour).padStart(2, '0')}:00:00.000Z`));
    for (const line of lines) putSegment(store, line.receivedAt, [line]);
    const view = open(store);
    await expect(view.refresh()).rejects.toThrow('reset');
    expect(view.status()).toMatchObject({ state: 'ready', error: 'read: reset' });
    await view.refresh();
    expect(await ids(view)).toEqual(lines.map((line) => line.deliveryId).reverse());
    expect(reads).toBe(4);
  });

  it('polls again by itself while it is in use', async () => {
    let polled = () => {};
    const poll = new Promise<void>((resolve) => (polled = resolve));
    let lists = 0;
    const store = createMemoryStore((operation) => {
      if (operation === 'list') lists += 1;
      if (lists === 3) polled();
    });
    const line = at('2026-03-04T12:00:00.000Z');
    putSegment(store, line.receivedAt, [line]);
    const view = createLedgerView({ store, clock: () => now, fastInterval: 1, slowInterval: 1e6 });
    views.push(view);
    await view.refresh();
    view.start();
    view.touch();
    await poll;
    expect(lists).toBeGreaterThanOrEqual(3);
  });

  it('summarises over time, by outcome and region, with latency and freshness', async () => {
    const store = createMemoryStore();
    const early = at('2026-03-04T11:40:00.000Z', { durationMs: 10, bytes: 100 });
    putSegment(store, early.receivedAt, [early]);
    putSegment(store, '2026-03-04T12:10:00.000Z', [
      at('2026-03-04T12:05:00.000Z', { durationMs: 20, bytes: 200, region: 'us1', outcome: 'conflict' }),
      at('2026-03-04T12:06:00.000Z', { durationMs: 1000, bytes: 0, region: 'au1', outcome: 'refused' }),
      at('2026-03-04T12:07:00.000Z', {
        durationMs: 1e6,
        region: null,
        origin: 'recovery',
        outcome: 'recovered',
      }),
    ]);
    const view = open(store);
    await view.refresh();

    const summary = await view.summary({ since: '2026-03-04T11:30:00Z', until: NOW, buckets: 2 });
    expect(summary.total).toEqual({
      lines: 4,
      bytes: 1534,
      outcomes: { stored: 1, conflict: 1, refused: 1, recovered: 1 },
      regions: { eu1: 1, us1: 1, au1: 1, none: 1 },
      duration: { p50: expect.closeTo(20, -0.5), p95: 1000, p99: 1000, max: 1000 },
    });
    expect(summary.buckets.map(({ start, lines, outcomes }) => ({ start, lines, outcomes }))).toEqual([
      { start: '2026-03-04T11:30:00.000Z', lines: 1, outcomes: { stored: 1 } },
      { start: '2026-03-04T12:00:00.000Z', lines: 3, outcomes: { conflict: 1, refused: 1, recovered: 1 } },
    ]);
    expect(summary.last.byRegion).toEqual({
      eu1: '2026-03-04T11:40:00.000Z',
      us1: '2026-03-04T12:05:00.000Z',
    });
    expect(summary.last.bySource).toEqual({ default: '2026-03-04T12:05:00.000Z' });
    const empty = await view.summary({
      since: '2026-03-04T10:00:00Z',
      until: '2026-03-04T11:00:00Z',
      buckets: 1,
    });
    expect(empty.buckets).toEqual([
      { start: '2026-03-04T10:00:00.000Z', lines: 0, bytes: 0, outcomes: {}, regions: {}, duration: null },
    ]);
  });

  it.each([
    { cursor: 'x' },
    { cursor: '' },
    { cursor: Buffer.from('[1e999,"",""]').toString('base64url') },
    { cursor: Buffer.from('[1,2,3]').toString('base64url') },
    { limit: 0 },
    { limit: 1.5 },
    { limit: 501 },
    { since: 'yesterday' },
    { until: '' },
    { since: '1' },
    { since: 'foo 1' },
    { until: '2026-11-21T14:52:06.472' },
  ])('refuses %j as an invalid request', async (query) => {
    const view = open(createMemoryStore());
    const error = await view.deliveries(query).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(Problem);
    expect(error).toMatchObject({ code: 'request-invalid' });
  });

  it.each([{ buckets: 0 }, { since: 'x' }, { since: NOW, until: NOW }])(
    'refuses a summary over %j',
    async (query) => {
      const view = open(createMemoryStore());
      await expect(view.summary(query)).rejects.toMatchObject({ code: 'request-invalid' });
    },
  );
});
