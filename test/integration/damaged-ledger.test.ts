import { copyFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parquetMetadata } from 'hyparquet';
import { createJobHistory } from '../../src/admin/jobs/job-history.js';
import type { LedgerLine } from '../../src/domain/delivery.js';
import { compact } from '../../src/ledger/compact/compact.js';
import { hourFolder, parquetKey, rollupKey } from '../../src/ledger/ledger-keys.js';
import { createLedgerView, type LedgerView } from '../../src/ledger/read/ledger-view.js';
import { beforeInstant } from '../../src/ledger/read/log/log-position.js';
import { createLedger } from '../../src/ledger/write/ledger.js';
import { createFileStore } from '../../src/store/file/file-store.js';
import type { ObjectStore } from '../../src/store/object-store.js';
import { createLedgerFollower } from '../../src/subscribers/follow/ledger-follower.js';
import type { LogProgress } from '../../src/subscribers/follow/log-place.js';
import { verify } from '../../src/verify/verify.js';
import { ledgerLine } from '../support/ledger/ledger-lines.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** The begin of three hours before those in memory: a clock of the future, so that all segments are old enough to end. */
const NOW = Math.ceil(Date.now() / DAY) * DAY + 4 * DAY;
const HOURS = [4, 5, 6].map((hour) => NOW - 4 * DAY + hour * HOUR) as [number, number, number];
const [BEFORE, DAMAGED, AFTER] = HOURS;
const JOBS = 5;

const folderOf = (hour: number) => hourFolder(new Date(hour).toISOString());
const PARQUET = parquetKey(folderOf(DAMAGED), 1);
const ROLLUP = rollupKey(folderOf(DAMAGED), 1);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let store: ObjectStore;
let view: LedgerView;

beforeEach(async () => {
  folder = await temporaryFolder();
  store = createFileStore({ directory: folder.path, fsync: false, partSize: 8 * 1024 * 1024 });
});

afterEach(async () => {
  await view?.stop();
  await store.close();
  await folder.remove();
});

const path = (key: string) => join(folder.path, key);
const jobOf = (hour: number, n: number) => `job-${HOURS.indexOf(hour)}-${n}`;

/** Appends lines in an hour. */
async function appendAt(hour: number, lines: readonly LedgerLine[]): Promise<void> {
  const ledger = createLedger({ store, replica: 'r', clock: () => hour });
  await Promise.all(lines.map((line) => ledger.append(line)));
}

/** Three hours with jobs that have an artefact each. A job failed in the first and was stored in the second. */
async function fillLedger(): Promise<void> {
  for (const hour of HOURS) {
    const lines = await Promise.all(Array.from({ length: JOBS }, (_, n) => storedLine(hour, n)));
    const outcome = hour === BEFORE ? 'failed' : 'stored';
    if (hour !== AFTER) lines.push(lineAt(hour + 10_000, 'late', { outcome }));
    await appendAt(hour, lines);
  }
}

async function storedLine(hour: number, n: number): Promise<LedgerLine> {
  const jobId = jobOf(hour, n);
  const key = `jobs/${jobId}/data`;
  await store.create(key, Buffer.from('data'), { contentType: 'text/plain', metadata: {} });
  const items = [{ kind: 'data', key, size: 4, sha256: '', outcome: 'created' }] as const;
  return lineAt(hour + n * 1000, jobId, { items: [...items] });
}

function lineAt(time: number, jobId: string, more: Partial<LedgerLine>): LedgerLine {
  return ledgerLine({ receivedAt: new Date(time).toISOString(), jobId, ...more });
}

function compactLedger(more: { now?: number; keepSegments?: number } = {}) {
  const { now = NOW - 2 * DAY - 2 * HOUR, keepSegments = null } = more;
  return compact({ store, clock: () => now, keepSegments }, { since: new Date(0) });
}

const removeSegments = (hour: number) => rm(path(`ledger/${folderOf(hour)}`), { recursive: true });

/** @param ended the time before which lines of the ledger have ended */
function verifyAll(ended = Number.NEGATIVE_INFINITY) {
  const sources = { default: { contents: [], keyPrefix: '' } };
  const retained = { expiredBefore: async () => () => ended };
  return verify(
    { store, sources, retention: 7 * DAY, retained, clock: () => NOW },
    { version: '1', since: new Date(BEFORE - HOUR) },
  );
}

/**
 * What each reader names, and what it read of the jobs of the hour.
 *
 * @param windowMs how far back the view holds lines in memory, where their segments exist
 */
async function readEverywhere(windowMs = HOUR) {
  view = createLedgerView({ store, clock: () => NOW, windowMs, patience: 60_000 });
  await view.refresh();
  await view.readPast();
  const since = new Date(BEFORE - HOUR);
  const page = await view.deliveries({ since: since.toISOString(), limit: 500 });
  const ofJob = await view.deliveries({ since: since.toISOString(), job: jobOf(DAMAGED, 1) });
  const history = createJobHistory(view);
  const job = await history.search(jobOf(DAMAGED, 2), { storedAt: [], isKnown: true, scope: null });
  const failures = await view.openFailures({ limit: 500 });
  const report = await verifyAll();
  const ofHour = (lines: readonly LedgerLine[]) =>
    new Set(lines.flatMap(({ jobId }) => (jobId?.startsWith('job-1-') ? jobId : []))).size;
  return {
    named: {
      deliveries: ofJob.faults,
      job: job.faults,
      failures: failures.faults,
      verify: report.faults.map(({ key, reason }) => `${key} ${reason}`),
    },
    read: { deliveries: ofHour(page.deliveries), job: job.lines.length },
    others: page.deliveries.filter(({ jobId }) => /^job-[02]-/.test(jobId ?? '')).length,
    failing: failures.failures.length,
    report,
  };
}

type Damage = readonly [what: string, key: string, damage: () => Promise<void>, rowsAreSound: boolean];

async function flipBytes(bytesOf: (chunk: { start: number; bloom: number }) => number): Promise<void> {
  const body = await readFile(path(PARQUET));
  const metadata = parquetMetadata(body.buffer.slice(body.byteOffset, body.byteOffset + body.length));
  for (const { meta_data: meta } of metadata.row_groups[0]?.columns ?? []) {
    const start = Number(meta?.dictionary_page_offset ?? meta?.data_page_offset);
    const at = bytesOf({ start, bloom: Number(meta?.bloom_filter_offset ?? Number.NaN) });
    if (!Number.isNaN(at)) body[at] = (body[at] ?? 0) ^ 0x10;
  }
  await writeFile(path(PARQUET), body);
}

const copy = (from: string, to: string) => copyFile(path(from), path(to));

const COMPACTED: readonly Damage[] = [
  ['a missing Parquet file', PARQUET, () => rm(path(PARQUET)), false],
  ['an empty Parquet file', PARQUET, () => truncate(path(PARQUET), 0), false],
  ['half a Parquet file', PARQUET, () => truncate(path(PARQUET), 2000), false],
  [
    'a Parquet file that is a copy of another hour’s',
    PARQUET,
    () => copy(parquetKey(folderOf(BEFORE), 1), PARQUET),
    false,
  ],
  ['flipped bits in a Parquet file', PARQUET, () => flipBytes(({ start }) => start + 30), false],
  ['flipped bits in a bloom filter', PARQUET, () => flipBytes(({ bloom }) => bloom + 25), true],
  // Without its rollup a file is not read.
  ['a missing rollup', PARQUET, () => rm(path(ROLLUP)), false],
  ['an empty rollup', ROLLUP, () => truncate(path(ROLLUP), 0), false],
  ['half a rollup', ROLLUP, () => truncate(path(ROLLUP), 200), false],
  [
    'a rollup that is a copy of another hour’s',
    ROLLUP,
    () => copy(rollupKey(folderOf(BEFORE), 1), ROLLUP),
    false,
  ],
];

/** A segment of the hour, which holds all of its lines, and what is left of them. */
const SEGMENTS: readonly (readonly [what: string, damage: (own: string) => Promise<void>, rest: number])[] = [
  ['an empty segment', (own) => truncate(path(own), 0), 0],
  ['half a segment', (own) => halve(own), 2],
  ['a byte that is not UTF-8', (own) => spoilText(own), JOBS - 1],
];

async function firstSegment(hour: number): Promise<string> {
  for await (const { key } of store.list(`ledger/${folderOf(hour)}`)) return key;
  throw new Error('the hour has no segment');
}

async function halve(key: string): Promise<void> {
  const lines = (await readFile(path(key), 'utf8')).split('\n');
  // Two of its jobs and a part of the third.
  await writeFile(path(key), `${lines.slice(0, 2).join('\n')}\n${lines[2]?.slice(0, 100)}`);
}

/** The job is not the one whose page is asked for. */
async function spoilText(key: string): Promise<void> {
  const body = await readFile(path(key));
  body[body.indexOf('primary')] = 0xfc;
  await writeFile(path(key), body);
}

const naming = (key: string) => expect.arrayContaining([expect.stringContaining(key)]);

describe('a damaged ledger', () => {
  const windows = COMPACTED.flatMap((damage) =>
    [HOUR, 7 * DAY].map((window) => [...damage, window] as const),
  );

  it.each(windows)(
    'with %s is named by each reader, which reads the rest',
    async (_, key, damage, isSound, window) => {
      await fillLedger();
      await compactLedger();
      for (const hour of HOURS) await removeSegments(hour);
      await damage();
      const { named, read, others, failing, report } = await readEverywhere(window);
      // Lines in memory are found without bloom filters.
      const isNoticed = !isSound || window === HOUR;
      const ofView = isNoticed ? naming(key) : [];
      expect(named).toEqual({ deliveries: ofView, job: ofView, failures: ofView, verify: naming(key) });
      expect(others).toBe(2 * JOBS);
      expect(read).toEqual(isSound ? { deliveries: JOBS, job: 1 } : { deliveries: 0, job: 0 });
      expect(failing).toBe(isSound ? 0 : 1);
      expect(report).toMatchObject({ complete: false, checked: isSound ? 3 * JOBS : 2 * JOBS });
    },
  );

  it.each(COMPACTED)('with %s is named while its segments exist, and all is read', async (_, key, damage) => {
    await fillLedger();
    await compactLedger();
    await damage();
    const { named, read, report } = await readEverywhere();
    expect(named).toMatchObject({ deliveries: naming(key), job: naming(key), verify: naming(key) });
    expect(read).toEqual({ deliveries: JOBS, job: 1 });
    expect(report).toMatchObject({ complete: false, checked: 3 * JOBS });
  });

  it.each(COMPACTED)('with %s keeps its segments, and compact names it once', async (_, key, damage) => {
    await fillLedger();
    await compactLedger();
    await damage();
    const { faults } = await compactLedger({ keepSegments: DAY });
    const ofHour = faults.filter(({ hour }) => hour === folderOf(DAMAGED));
    expect(ofHour).toEqual([{ hour: folderOf(DAMAGED), reason: expect.stringContaining(key) }]);
  });

  it.each(SEGMENTS)('with %s is named by each reader, which reads the rest', async (_, damage, rest) => {
    await fillLedger();
    const own = await firstSegment(DAMAGED);
    await damage(own);
    const { named, read, others, report } = await readEverywhere();
    const { deliveries, failures, job, verify: verified } = named;
    for (const names of [deliveries, failures, job, verified]) expect(names).toEqual(naming(own));
    expect(read).toEqual({ deliveries: rest, job: rest > 2 ? 1 : 0 });
    expect(others).toBe(2 * JOBS);
    expect(report).toMatchObject({ complete: false, checked: 2 * JOBS + rest });
    const { faults } = await compactLedger();
    expect(faults).toEqual([{ hour: folderOf(DAMAGED), reason: expect.stringContaining(own) }]);
    await compactLedger({ keepSegments: DAY });
    expect(await store.head(own)).not.toBeNull();
    const { named: later } = await readEverywhere();
    expect(later.deliveries).toEqual(naming(ROLLUP));
    expect(later.job).toEqual(naming(ROLLUP));
    expect(later.verify).toEqual(naming(ROLLUP));
  });

  it('is read row group by row group where a file is damaged', async () => {
    const lines = Array.from({ length: 2100 }, (_, n) => lineAt(DAMAGED + n * 1000, `job-1-${n}`, {}));
    await appendAt(DAMAGED, lines);
    await compactLedger();
    await removeSegments(DAMAGED);
    await flipBytes(({ start }) => start + 30);
    const { named, read, report } = await readEverywhere();
    expect(named.verify).toEqual(naming(PARQUET));
    expect(read.deliveries).toBe(2100 - 2048);
    expect(report.ledger.lines).toBe(2100 - 2048);
  });

  it('with a damaged rollup in each of many hours is compacted and checked to its end', async () => {
    const hours = Array.from({ length: 8 }, (_, n) => BEFORE + n * HOUR);
    for (const hour of hours) await appendAt(hour, [lineAt(hour, `job-${hour}`, {})]);
    await compactLedger();
    const rollups = hours.slice(0, 7).map((hour) => rollupKey(folderOf(hour), 1));
    for (const key of rollups) await truncate(path(key), 10);
    const { report } = await readEverywhere();
    expect(report.faults.map(({ key }) => key)).toEqual(rollups);
    expect(report.ledger.first).toBe(new Date(BEFORE).toISOString());
    expect(report.ledger.last).toBe(new Date(hours.at(-1) ?? 0).toISOString());
    const { faults, deleted } = await compactLedger({ keepSegments: HOUR });
    expect(faults.map(({ hour }) => hour)).toEqual(hours.slice(0, 7).map(folderOf));
    expect(deleted).toBe(1);
  });

  it('sends no events of a Parquet file that is a copy of another hour’s', async () => {
    await fillLedger();
    await compactLedger();
    await copy(parquetKey(folderOf(BEFORE), 1), PARQUET);
    const sent: (string | null)[] = [];
    const faults: string[] = [];
    const state = { before: beforeInstant(DAMAGED), hours: {}, again: {} };
    async function look(): Promise<LogProgress> {
      const onFault = (_: string, { message }: Error) => void faults.push(message);
      const follower = createLedgerFollower({ store, state, clock: () => AFTER + 3 * HOUR, onFault });
      for await (const entries of follower.newLines()) sent.push(...entries.map(({ line }) => line.jobId));
      return follower.progress();
    }
    const jobs = [...Array.from({ length: JOBS }, (_, n) => jobOf(DAMAGED, n)), 'late'];
    const others = Array.from({ length: JOBS }, (_, n) => jobOf(AFTER, n));
    const again = { [folderOf(DAMAGED)]: state.before };
    expect(await look()).toMatchObject({ again });
    expect(sent.splice(0).sort()).toEqual([...jobs, ...others].sort());
    await removeSegments(DAMAGED);
    expect(await look()).toMatchObject({ again });
    expect(sent.sort()).toEqual(others);
    expect(new Set(faults)).toEqual(new Set([expect.stringContaining(PARQUET)]));
  });

  it('is not missed by verify where its retention has ended', async () => {
    await fillLedger();
    await compactLedger({ now: NOW, keepSegments: DAY });
    await rm(path(PARQUET));
    await rm(path(ROLLUP));
    expect((await verifyAll(DAMAGED + HOUR)).faults).toEqual([]);
    expect((await verifyAll(DAMAGED + HOUR - 1)).faults).toHaveLength(1);
  });

  it('never gets an empty rollup for a file whose rollup and segments are gone', async () => {
    await fillLedger();
    const kept = NOW - 2 * DAY - HOUR / 2;
    await compactLedger({ now: kept });
    await removeSegments(DAMAGED);
    await rm(path(ROLLUP));
    const { faults } = await compactLedger({ now: kept });
    expect(faults).toEqual([{ hour: folderOf(DAMAGED), reason: expect.stringContaining(PARQUET) }]);
    expect(await store.head(ROLLUP)).toBeNull();
  });

  it('is named by verify where an hour that a daily rollup counts has no file at all', async () => {
    await fillLedger();
    await compactLedger({ now: NOW, keepSegments: DAY });
    await rm(path(PARQUET));
    await rm(path(ROLLUP));
    const { report } = await readEverywhere();
    expect(report).toMatchObject({ complete: false, checked: 2 * JOBS });
    const lost = { key: `ledger/${folderOf(DAMAGED)}`, reason: expect.stringContaining('it is lost') };
    expect(report.faults).toEqual([lost]);
  });
});
