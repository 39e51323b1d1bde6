import { copyFile, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HOUR, hourAt } from '../../src/ledger/hours.js';
import { recordKey } from '../../src/ledger/ledger-keys.js';
import { readMergedHour } from '../../src/ledger/log/merge-record.js';
import { scanLines } from '../../src/ledger/log/scan-lines.js';
import { segmentKey } from '../../src/ledger/segment-key.js';
import { verify } from '../../src/recovery/verify/verify.js';
import { createFileStore } from '../../src/store/file/file-store.js';
import type { ObjectStore } from '../../src/store/object-store.js';
import { ledgerLine } from '../support/ledger/ledger-lines.js';
import { mergeLedger } from '../support/ledger/merge-ledger.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const DAY = 24 * HOUR;
/** A clock of the future, so that all segments are old enough to end. */
const NOW = Math.ceil(Date.now() / DAY) * DAY + 4 * DAY;
const HOURS = [4, 5, 6].map((hour) => NOW - 4 * DAY + hour * HOUR) as [number, number, number];
const [BEFORE, DAMAGED, AFTER] = HOURS;
const SEGMENTS = 5;
const RECORD = recordKey('ledger/', hourAt(DAMAGED), 1);

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let store: ObjectStore;
let objects: Map<number, string>;

const path = (key: string) => join(folder.path, key);
const segment = (hour: number, number: number) => segmentKey({ hour: hourAt(hour), writer: 'r', number });
const merge = (keepSegments: number | null = null) => mergeLedger({ store, clock: () => NOW, keepSegments });
const jobsOf = (hour: number) =>
  Array.from({ length: SEGMENTS }, (_, index) => `job-${HOURS.indexOf(hour)}-${index}`);
const OTHERS = [...jobsOf(BEFORE), ...jobsOf(AFTER)].sort();
const ALL = [...OTHERS, ...jobsOf(DAMAGED)].sort();

/** Three hours of five segments, each with a job. */
beforeEach(async () => {
  folder = await temporaryFolder();
  store = createFileStore({ directory: folder.path, fsync: false, partSize: 8 * 1024 * 1024 });
  for (const hour of HOURS)
    for (const [index, jobId] of jobsOf(hour).entries()) {
      const line = ledgerLine({ jobId, receivedAt: new Date(hour + index * 1000).toISOString() });
      const body = Buffer.from(`${JSON.stringify(line)}\n`);
      await store.create(segment(hour, index + 1), body, { contentType: 'text/plain', metadata: {} });
    }
});
afterEach(async () => {
  await store.close();
  await folder.remove();
});

async function mergeAll(): Promise<void> {
  expect((await merge()).faults).toEqual([]);
  objects = new Map();
  for (const hour of HOURS)
    objects.set(hour, (await readMergedHour(store, hourAt(hour))).records[0]?.object ?? '');
}

const objectOf = (hour: number) => objects.get(hour) ?? '';
const removeSegments = (hour: number) => rm(path(`ledger/${hourAt(hour)}`), { recursive: true });

/** What a scan of the log and verify name, and the jobs of the lines that they read. */
async function readEverywhere() {
  const named: string[] = [];
  const jobs: string[] = [];
  const scan = scanLines({
    store,
    since: BEFORE,
    until: AFTER + HOUR,
    onFault: (text) => void named.push(text),
    onUnreadable: (key) => void named.push(key),
  });
  for await (const { line } of scan) jobs.push(line.jobId ?? '');
  const report = await verify(
    {
      store,
      sources: { default: { contents: [], keyPrefix: '' } },
      retention: 7 * DAY,
      clock: () => NOW,
      retained: { expiredBefore: async () => () => Number.NEGATIVE_INFINITY },
    },
    { version: '1', since: new Date(BEFORE - HOUR), deep: true },
  );
  const { complete, ledger, faults } = report;
  const verified = faults.map(({ key, reason }) => `${key} ${reason}`);
  return { named, jobs: jobs.sort(), complete, lines: ledger.lines, verified };
}

const naming = (key: string) => expect.arrayContaining([expect.stringContaining(key)]);
const copy = (from: string, to: string) => copyFile(path(from), path(to));

async function flip(key: string): Promise<void> {
  const body = await readFile(path(key));
  const at = body.length >> 1;
  body[at] = (body[at] ?? 0) ^ 0x10;
  await writeFile(path(key), body);
}

type Damage = readonly [what: string, key: () => string, damage: () => Promise<void>];

const MERGED: readonly Damage[] = [
  ['a missing object', () => objectOf(DAMAGED), () => rm(path(objectOf(DAMAGED)))],
  ['an empty object', () => objectOf(DAMAGED), () => truncate(path(objectOf(DAMAGED)), 0)],
  ['half an object', () => objectOf(DAMAGED), () => truncate(path(objectOf(DAMAGED)), 60)],
  ['flipped bits in an object', () => objectOf(DAMAGED), () => flip(objectOf(DAMAGED))],
  ['the object of another hour', () => objectOf(DAMAGED), () => copy(objectOf(BEFORE), objectOf(DAMAGED))],
  ['an empty record', () => RECORD, () => truncate(path(RECORD), 0)],
  ['half a record', () => RECORD, () => truncate(path(RECORD), 200)],
  ['the record of another hour', () => RECORD, () => copy(recordKey('ledger/', hourAt(BEFORE), 1), RECORD)],
];

describe('a damaged ledger', () => {
  it.each(MERGED)('with %s is named, and the rest is read', async (_, key, damage) => {
    await mergeAll();
    for (const hour of HOURS) await removeSegments(hour);
    await damage();
    const { named, jobs, complete, lines, verified } = await readEverywhere();
    expect({ named, verified }).toEqual({ named: naming(key()), verified: [expect.stringContaining(key())] });
    expect(jobs).toEqual(OTHERS);
    expect({ complete, lines }).toEqual({ complete: false, lines: OTHERS.length });
  });

  it.each(MERGED)(
    'with %s is read whole while its segments are there, which stay until another record has them',
    async (_, key, damage) => {
      await mergeAll();
      await damage();
      const { named, jobs, lines, verified } = await readEverywhere();
      expect({ named, verified }).toEqual({
        named: naming(key()),
        verified: [expect.stringContaining(key())],
      });
      expect(jobs).toEqual(ALL);
      expect(lines).toBe(ALL.length);
      const { faults, deleted } = await merge(HOUR);
      expect(faults.map(({ hour }) => hour)).toEqual([`ledger/${hourAt(DAMAGED)}`]);
      expect(faults[0]?.reason).toContain(key());
      expect(deleted).toBeGreaterThanOrEqual(OTHERS.length);
      expect((await readEverywhere()).jobs).toEqual(ALL);
    },
  );

  it('with a record whose hash is not that of the text keeps the segments', async () => {
    await mergeAll();
    const record = JSON.parse(await readFile(path(RECORD), 'utf8'));
    // Its beginning is in the name of the object.
    const sha256 = record.sha256.slice(0, 16).padEnd(64, '0');
    await writeFile(path(RECORD), JSON.stringify({ ...record, sha256 }));
    const { faults } = await merge(HOUR);
    expect(faults).toEqual([
      {
        hour: `ledger/${hourAt(DAMAGED)}`,
        reason: expect.stringContaining('not the one that its record names'),
      },
    ]);
    for (let number = 1; number <= SEGMENTS; number += 1)
      expect(await store.head(segment(DAMAGED, number))).not.toBeNull();
  });

  it('is whole again once what was damaged is put back', async () => {
    await mergeAll();
    for (const hour of HOURS) await removeSegments(hour);
    const kept = await readFile(path(objectOf(DAMAGED)));
    await truncate(path(objectOf(DAMAGED)), 60);
    await writeFile(path(objectOf(DAMAGED)), kept);
    expect(await readEverywhere()).toMatchObject({ named: [], jobs: ALL, complete: true, verified: [] });
  });

  it('is whole again once its hour was merged again from the segments', async () => {
    await mergeAll();
    await rm(path(objectOf(DAMAGED)));
    expect((await merge()).faults).toHaveLength(1);
    expect((await merge()).faults).toEqual([]);
    for (const hour of HOURS) await removeSegments(hour);
    expect(await readEverywhere()).toMatchObject({ named: [], jobs: ALL, complete: true, verified: [] });
  });

  it('is whole again once a segment was put back that was damaged before its hour was merged', async () => {
    const kept = await readFile(path(segment(DAMAGED, 2)));
    await truncate(path(segment(DAMAGED, 2)), 100);
    expect((await merge()).faults).toMatchObject([{ reason: expect.stringContaining('is left out') }]);
    await writeFile(path(segment(DAMAGED, 2)), kept);
    expect(await readEverywhere()).toMatchObject({ named: [], jobs: ALL, complete: true, verified: [] });
    expect((await merge()).faults).toEqual([]);
    for (const hour of HOURS) await removeSegments(hour);
    expect(await readEverywhere()).toMatchObject({ named: [], jobs: ALL, complete: true, verified: [] });
  });

  it.each([
    ['an empty segment', (key: string) => truncate(path(key), 0), segment(DAMAGED, 2)],
    ['half a segment', (key: string) => truncate(path(key), 100), segment(DAMAGED, 2)],
    ['a missing segment', (key: string) => rm(path(key)), `ledger/${hourAt(DAMAGED)} has lost number 2 of r`],
  ])('with %s is named before and after its hour was merged', async (_, damage, name) => {
    await damage(segment(DAMAGED, 2));
    const rest = ALL.filter((job) => job !== 'job-1-1');
    for (const isMerged of [false, true]) {
      if (isMerged) await merge();
      const { named, jobs, complete, verified } = await readEverywhere();
      expect({ named, verified }).toEqual({
        named: naming(name),
        verified: [expect.stringContaining(name)],
      });
      expect({ jobs, complete }).toEqual({ jobs: rest, complete: false });
      expect(verified[0]?.startsWith(`ledger/${hourAt(DAMAGED)}`)).toBe(true);
    }
  });

  it('with a segment that another replaced after its hour was merged is named by verify, which reads the merged one', async () => {
    await mergeAll();
    await copy(segment(DAMAGED, 3), segment(DAMAGED, 2));
    const { jobs, verified } = await readEverywhere();
    expect(jobs).toEqual(ALL);
    expect(verified).toEqual([`${segment(DAMAGED, 2)} it differs from its merged hour`]);
    const { faults } = await merge(HOUR);
    expect(faults).toEqual([
      { hour: `ledger/${hourAt(DAMAGED)}`, reason: expect.stringContaining(segment(DAMAGED, 2)) },
    ]);
    expect(await store.head(segment(DAMAGED, 2))).not.toBeNull();
  });

  it('with a segment that appeared after its hour was merged is named by verify', async () => {
    await mergeAll();
    await copy(segment(DAMAGED, 5), segment(DAMAGED, 6));
    await utimes(path(segment(DAMAGED, 6)), NOW / 1000, NOW / 1000);
    const late = `${segment(DAMAGED, 6)} it appeared after its hour was merged; transcript-receiver merge --all merges it`;
    expect((await readEverywhere()).verified).toEqual([late]);
  });

  it.each([
    ['nothing is left', async () => rm(path(`ledger-hours/${hourAt(DAMAGED)}`), { recursive: true })],
    ['only its object is left, which nothing vouches for', async () => rm(path(RECORD))],
  ])('is named where %s of an hour that a later one names', async (_, damage) => {
    await mergeAll();
    for (const hour of HOURS) await removeSegments(hour);
    await damage();
    const { jobs, complete, verified } = await readEverywhere();
    expect({ jobs, complete }).toEqual({ jobs: OTHERS, complete: false });
    expect(verified).toEqual([expect.stringContaining(`ledger/${hourAt(DAMAGED)} it is lost`)]);
  });
});
