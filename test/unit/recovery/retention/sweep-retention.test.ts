import { readdir, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { encodeTime } from 'ulid';
import {
  classOfKey,
  erasureKey,
  quarantineFolder,
  quarantineMarker,
  replayKey,
  verifyReportKey,
} from '../../../../src/archive/layout.js';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { RETENTION_CLASSES, type RetentionClass } from '../../../../src/domain/kinds.js';
import { hourFolder, ledgerPartition } from '../../../../src/ledger/hours.js';
import { mergedObjectKey, recordKey } from '../../../../src/ledger/ledger-keys.js';
import type { ExpiringStore } from '../../../../src/recovery/retention/expired-objects.js';
import { readRetentionState } from '../../../../src/recovery/retention/retention-state.js';
import {
  createRetentionView,
  type RetentionPeriods,
} from '../../../../src/recovery/retention/retention-view.js';
import { isDue } from '../../../../src/recovery/retention/sweep-regularly.js';
import { sweepRetention } from '../../../../src/recovery/retention/sweep-retention.js';
import { createFileStore } from '../../../../src/store/file/file-store.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const DAY = 86_400_000;
const NOW = Date.parse('2026-06-01T12:00:00.000Z');
const FOREVER = Object.fromEntries(
  RETENTION_CLASSES.map((kind) => [kind, null]),
) as unknown as RetentionPeriods;
const PERIODS: RetentionPeriods = { ...FOREVER, transcript: 365 * DAY, data: 30 * DAY };

let parent: string;
let remove: () => Promise<void>;
let stores = 0;

beforeAll(async () => {
  ({ path: parent, remove } = await temporaryFolder());
});
afterAll(() => remove());

/** A file store in a folder of its own, with the lines that a ledger was given. */
function newArchive() {
  stores += 1;
  const directory = join(parent, String(stores));
  const store = createFileStore({ directory, partSize: 1024, fsync: false }) as ExpiringStore;
  const lines: LedgerLine[] = [];
  const ledger = { append: async (line: LedgerLine) => void lines.push(line) };

  /** Stores an object that was written so long ago, received then too unless said otherwise. */
  async function put(key: string, age: number, { size = 10, receivedAge = age } = {}): Promise<string> {
    const [, jobId = 'none'] = /jobs\/([^/]+)\//.exec(key) ?? [];
    const receivedAt = new Date(NOW - receivedAge).toISOString();
    const metadata = { 'job-id': jobId, source: 'intake', 'received-at': receivedAt };
    await store.create(key, Buffer.alloc(size, 'x'), { contentType: 'text/plain', metadata });
    const time = new Date(NOW - age);
    await utimes(join(directory, key), time, time);
    return key;
  }

  async function keys(): Promise<string[]> {
    const found = await readdir(directory, { recursive: true, withFileTypes: true });
    return found
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
      .filter((key) => !/^\.(meta|retention|transcript-receiver)/.test(key))
      .sort();
  }

  const parts = (periods: RetentionPeriods, now = NOW) => ({
    store,
    ledger,
    periods,
    clock: () => now,
  });
  return { directory, store, ledger, lines, put, keys, parts };
}

const CLAIM = { contentType: 'text/plain', metadata: {} } as const;

/** Objects and bytes by job, source and kind; a line that is written again counts once. */
function expired(lines: readonly LedgerLine[]): unknown[] {
  const sums = new Map<string, [number, number]>();
  for (const line of new Map(lines.map((each) => [each.deliveryId, each])).values()) {
    const name = JSON.stringify([line.jobId, line.source, line.expired?.kind]);
    const [objects, bytes] = sums.get(name) ?? [0, 0];
    sums.set(name, [objects + (line.expired?.objects ?? 0), bytes + line.bytes]);
  }
  return [...sums].map(([name, sum]) => [...JSON.parse(name), ...sum]).sort();
}

const ulidAt = (time: number) => `${encodeTime(time, 10)}0000000000000000`;

/** Keys of each kind, of a delivery so many milliseconds ago. */
const KEYS: Readonly<Record<RetentionClass, (age: number) => string[]>> = {
  transcript: () => [
    'jobs/j1/transcript.json',
    'jobs/j1/transcript.srt',
    'jobs/j1/conflicts/transcript.json.ab',
  ],
  jobinfo: () => ['team/a/jobs/j1/jobinfo.json'],
  data: () => ['jobs/j1/data', 'jobs/j1/conflicts/data.cd'],
  attachment: () => ['jobs/j1/attachments/0011223344556677.pdf'],
  quarantine: (age) =>
    ['body', 'request.json', 'released.json'].map((name) => quarantineFolder(ulidAt(NOW - age)) + name),
  ledger: (age) => {
    const at = new Date(NOW - age - 3_600_000).toISOString();
    const hour = hourFolder(at);
    return [
      `${ledgerPartition(at)}a-r.ndjson`,
      mergedObjectKey('ledger/', hour, 1, '0a1b2c3d4e5f6071'),
      recordKey('ledger/', hour, 1),
    ];
  },
  reports: (age) => [verifyReportKey(new Date(NOW - age).toISOString())],
  replays: (age) => [replayKey(ulidAt(NOW - age)), `replays/${ulidAt(NOW - age)}/items.json`],
};

/** Never expired by age: they keep a job from being stored twice, or erased ones from coming back, or wait to be sent. */
const STATE = [
  erasureKey('j1'),
  '.erasure-log/last',
  '.canary/replica',
  'outbox/billing/state.json',
  'outbox/billing/dead/e1.json',
  'unknown/file',
];

describe('a sweep by age', () => {
  it.each([
    ['older', 52 * DAY],
    ['younger', 48 * DAY],
  ])('decides by the period of each kind alone: %s', async (which, age) => {
    const { put, keys, parts } = newArchive();
    for (const key of STATE) await put(key, 4000 * DAY);
    for (const kind of RETENTION_CLASSES) for (const key of KEYS[kind](age)) await put(key, age);
    let left = await keys();
    for (const kind of RETENTION_CLASSES) {
      const expected = which === 'older' ? KEYS[kind](age) : [];
      const report = await sweepRetention(parts({ ...FOREVER, [kind]: 50 * DAY }));
      const figures = { objects: expected.length, bytes: expected.length * 10 };
      expect(report).toEqual({
        complete: true,
        faults: [],
        kinds: which === 'older' ? { [kind]: figures } : {},
      });
      left = left.filter((key) => !expected.includes(key));
      expect([kind, await keys()]).toEqual([kind, left]);
      expect(KEYS[kind](age).map(classOfKey)).toEqual(KEYS[kind](age).map(() => kind));
    }
  });

  it('goes by the later of the time of receipt and that of the file, and for a replay by its state', async () => {
    const { put, keys, parts } = newArchive();
    const restored = await put('jobs/j1/data', 1 * DAY, { receivedAge: 99 * DAY });
    const touched = await put('jobs/j2/data', 99 * DAY, { receivedAge: 29 * DAY });
    await put('jobs/j3/data', 99 * DAY);
    const id = ulidAt(NOW - 99 * DAY);
    const replay = [await put(replayKey(id), 1 * DAY), await put(`replays/${id}/items.json`, 99 * DAY)];
    await sweepRetention(parts({ ...PERIODS, replays: 50 * DAY }));
    expect(await keys()).toEqual([restored, touched, ...replay]);
  });

  it('writes one line for each job, kind and source, with counts and bytes, and nothing of the objects', async () => {
    const { put, parts, lines } = newArchive();
    await put('jobs/j1/transcript.json', 400 * DAY, { size: 5 });
    await put('jobs/j1/transcript.txt', 400 * DAY, { size: 7 });
    await put('jobs/j1/data', 400 * DAY, { size: 11 });
    await put('jobs/j2/data', 31 * DAY, { size: 13 });
    await put('jobs/j2/transcript.json', 31 * DAY);
    await sweepRetention(parts(PERIODS));
    expect(expired(lines)).toEqual([
      ['j1', 'intake', 'data', 1, 11],
      ['j1', 'intake', 'transcript', 2, 12],
      ['j2', 'intake', 'data', 1, 13],
    ]);
    for (const { v, origin, outcome, items, reason, receivedAt } of lines) {
      expect({ v, origin, outcome, items, reason, receivedAt }).toEqual({
        v: 1,
        origin: 'retention',
        outcome: 'expired',
        items: [],
        reason: null,
        receivedAt: new Date(NOW).toISOString(),
      });
    }
  });

  it('leaves neither folders nor metadata of what has expired', async () => {
    const { directory, put, parts, store } = newArchive();
    const id = ulidAt(NOW - 50 * DAY);
    await put('jobs/j1/data', 50 * DAY);
    await put('jobs/j1/conflicts/data.cd', 50 * DAY);
    await store.create(
      '.conflicts/jobs/j1/conflicts/data.cd',
      Buffer.from('jobs/j1/conflicts/data.cd'),
      CLAIM,
    );
    await store.create(
      '.conflicts/jobs/j1/conflicts/data.ef',
      Buffer.from('jobs/j1/conflicts/data.ef'),
      CLAIM,
    );
    await put('jobs/j2/transcript.json', 50 * DAY);
    await store.create(`${quarantineFolder(id)}request.json`, Buffer.from('{}'), {
      contentType: 'application/json',
      metadata: { 'job-id': 'j3' },
    });
    await put(quarantineMarker('j3', id), 50 * DAY);
    await sweepRetention(parts({ ...PERIODS, quarantine: 40 * DAY }));
    const claims = await readdir(join(directory, '.conflicts/jobs/j1/conflicts'));
    expect(claims).toEqual(['data.ef']);
    await store.delete('.conflicts/jobs/j1/conflicts/data.ef');
    const left = await readdir(directory, { recursive: true });
    expect(
      left.filter((name) => /^(\.meta\/)?(jobs|quarantine|\.conflicts|\.quarantine-jobs)/.test(name)).sort(),
    ).toEqual([
      '.meta/jobs',
      '.meta/jobs/j2',
      expect.stringContaining('.meta/jobs/j2/transcript.json#'),
      'jobs',
      'jobs/j2',
      'jobs/j2/transcript.json',
    ]);
  });

  it('removes the request of a quarantined body first, and of the ledger the segments before what replaces them', async () => {
    const { put, parts, store } = newArchive();
    for (const kind of ['quarantine', 'ledger'] as const) {
      for (const key of KEYS[kind](60 * DAY)) await put(key, 60 * DAY);
    }
    const removed: string[] = [];
    const expire: ExpiringStore['expire'] = (found) => {
      removed.push(found.key);
      return store.expire(found);
    };
    await sweepRetention({
      ...parts({ ...FOREVER, quarantine: 50 * DAY, ledger: 50 * DAY }),
      store: { ...store, expire },
    });
    expect(removed[0]).toMatch(/request\.json$/);
    expect(removed.slice(3).map((key) => key.split('/')[0])).toEqual([
      'ledger',
      'ledger-hours',
      'ledger-hours',
    ]);
  });

  it('ends what comes again after its end as late as everything else', async () => {
    const { put, keys, parts } = newArchive();
    await put('jobs/j1/data', 31 * DAY);
    await sweepRetention(parts(PERIODS));
    const again = await put('jobs/j1/data', 0);
    await sweepRetention(parts(PERIODS, NOW + 29 * DAY));
    expect(await keys()).toEqual([again]);
    await sweepRetention(parts(PERIODS, NOW + 31 * DAY));
    expect(await keys()).toEqual([]);
  });

  /** The store, where nothing can be removed at some keys. */
  function stuckAt(store: ExpiringStore, isStuck: (key: string) => boolean): ExpiringStore {
    const expire: ExpiringStore['expire'] = (found) =>
      isStuck(found.key)
        ? Promise.reject(new StoreError('expire', 'permission denied'))
        : store.expire(found);
    return { ...store, expire };
  }

  it('goes on behind an object that cannot be removed, and reports it', async () => {
    const { put, keys, parts, store } = newArchive();
    const stuck = await put('jobs/j1/data', 50 * DAY);
    await put('jobs/j2/data', 50 * DAY);
    const report = await sweepRetention({
      ...parts(PERIODS),
      store: stuckAt(store, (key) => key === stuck),
    });
    expect(report).toMatchObject({
      complete: false,
      faults: [{ key: stuck }],
      kinds: { data: { objects: 1 } },
    });
    expect(await keys()).toEqual([stuck]);
  });

  it('records what it cannot remove once, and what is found beside it later', async () => {
    const { put, parts, store, lines } = newArchive();
    const stuck = await put('jobs/j1/data', 50 * DAY);
    let isStuck = true;
    const recorded = new Set<string>();
    const sweep = () =>
      sweepRetention({
        ...parts(PERIODS),
        recorded,
        store: stuckAt(store, (key) => isStuck && key === stuck),
      });
    await sweep();
    await sweep();
    expect(lines).toMatchObject([{ jobId: 'j1', expired: { kind: 'data', objects: 1 } }]);
    await put('jobs/j1/conflicts/data.1', 50 * DAY);
    isStuck = false;
    await sweep();
    expect(lines).toHaveLength(2);
    expect(recorded.size).toBe(0);
  });

  it('goes on behind any number of them, and leaves of the ledger their hours alone', async () => {
    const { put, keys, parts, store } = newArchive();
    for (let n = 0; n < 101; n += 1) await put(`jobs/j1/conflicts/data.${n}`, 60 * DAY);
    for (const age of [60, 61, 62]) for (const key of KEYS.ledger(age * DAY)) await put(key, age * DAY);
    const stuck = KEYS.ledger(61 * DAY);
    const report = await sweepRetention({
      ...parts({ ...PERIODS, ledger: 50 * DAY }),
      store: stuckAt(store, (key) => key.startsWith('jobs/') || key === stuck[0]),
    });
    expect(report).toMatchObject({ complete: false, kinds: { ledger: { objects: 6 } } });
    expect(report.faults).toHaveLength(100);
    expect((await keys()).filter((key) => key.startsWith('ledger'))).toEqual(stuck.sort());
    expect(isDue(await readRetentionState(store), { ...PERIODS, ledger: 50 * DAY }, NOW)).toBe(false);
  });

  it('goes on behind an object whose metadata cannot be read, and reports it', async () => {
    const { put, keys, parts, store } = newArchive();
    const stuck = await put('jobs/j1/data', 50 * DAY);
    await put('jobs/j2/data', 50 * DAY);
    const head: ExpiringStore['head'] = (key) =>
      key === stuck ? Promise.reject(new StoreError('head', 'permission denied')) : store.head(key);
    const report = await sweepRetention({ ...parts(PERIODS), store: { ...store, head } });
    expect(report).toMatchObject({ complete: false, faults: [{ key: stuck }] });
    expect(await keys()).toEqual([stuck]);
  });

  it('ends when it is interrupted, also while it finds nothing, and is due again', async () => {
    const { put, keys, parts, store } = newArchive();
    for (let n = 0; n < 5; n += 1) await put(`jobs/j${n}/data`, DAY);
    const stop = new AbortController();
    let entries = 0;
    const pause = async () => {
      entries += 1;
      stop.abort();
    };
    const report = await sweepRetention(parts(PERIODS), stop.signal, pause);
    expect(report).toMatchObject({
      complete: false,
      faults: [{ reason: expect.stringMatching(/interrupted/) }],
    });
    expect(entries).toBe(1);
    expect(await keys()).toHaveLength(5);
    expect(isDue(await readRetentionState(store), PERIODS, NOW)).toBe(true);
  });

  it('leaves files that are not of the layout', async () => {
    const { put, keys, parts } = newArchive();
    const foreign = [
      'jobs/old/conflicts/notes.txt',
      'jobs/old/foreign.bin',
      'jobs/old/attachments/holiday.jpg',
      'jobs/old/transcript.json.bak',
    ];
    for (const key of [...foreign, 'jobs/old/data', 'jobs/old/attachments/0011223344556677.pdf'])
      await put(key, 900 * DAY);
    const report = await sweepRetention(parts({ ...PERIODS, attachment: 30 * DAY }));
    expect(await keys()).toEqual(foreign.toSorted());
    expect(report.complete).toBe(true);
  });

  it('by two processes at once removes everything, and reports each object once', async () => {
    const { put, keys, parts, lines } = newArchive();
    for (let n = 0; n < 40; n += 1) await put(`jobs/j${n}/data`, 50 * DAY);
    const reports = await Promise.all([sweepRetention(parts(PERIODS)), sweepRetention(parts(PERIODS))]);
    expect(await keys()).toEqual([]);
    expect(reports.reduce((sum, { kinds }) => sum + (kinds.data?.objects ?? 0), 0)).toBe(40);
    expect(new Set(lines.map(({ jobId }) => jobId)).size).toBe(40);
    expect(reports.every(({ complete }) => complete)).toBe(true);
  });
});

/** Stands for the end of the process: nothing that it calls takes effect any more. */
class Killed extends Error {}

describe('a sweep that is killed', () => {
  const contents = [
    'jobs/j1/conflicts/data.cd',
    'jobs/j1/conflicts/data.ef',
    'jobs/j2/data',
    'jobs/j2/transcript.json',
  ];

  /** Sweeps until the given number of calls have been made; false when the sweep expired before. */
  async function sweepAndDie(archive: ReturnType<typeof newArchive>, calls: number): Promise<boolean> {
    let left = calls;
    const inFlight: Promise<unknown>[] = [];
    const counted = <Args extends unknown[], T>(run: (...args: Args) => Promise<T>) => {
      return (...args: Args): Promise<T> => {
        if (left === 0) throw new Killed();
        left -= 1;
        const running = run(...args);
        inFlight.push(running);
        return running;
      };
    };
    const { store, ledger } = archive;
    const dying: ExpiringStore = {
      ...store,
      create: counted(store.create),
      replace: counted(store.replace),
      delete: counted(store.delete),
      expire: counted(store.expire),
    };
    const parts = { ...archive.parts(PERIODS), store: dying, ledger: { append: counted(ledger.append) } };
    try {
      await sweepRetention(parts);
      return false;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      await Promise.allSettled(inFlight);
      return true;
    }
  }

  it('at any point has a line for everything that is gone, and the next one removes the rest', async () => {
    let killed = true;
    for (let calls = 0; killed; calls += 1) {
      const archive = newArchive();
      for (const key of contents) await archive.put(key, 400 * DAY);
      for (const key of contents.slice(0, 2))
        await archive.store.create(`.conflicts/${key}`, Buffer.from(key), CLAIM);
      killed = await sweepAndDie(archive, calls);
      const removed = contents.length - (await archive.keys()).length;
      const recorded = archive.lines.reduce((sum, line) => sum + (line.expired?.objects ?? 0), 0);
      expect({ calls, isRecorded: recorded >= removed }).toEqual({ calls, isRecorded: true });
      await sweepRetention(archive.parts(PERIODS));
      expect(await archive.keys()).toEqual([]);
    }
  });

  it('leaves alone what has not expired by longer periods', async () => {
    const archive = newArchive();
    for (const key of contents) await archive.put(key, 31 * DAY);
    // The state, two lines, and two of the three removals.
    expect(await sweepAndDie(archive, 5)).toBe(true);
    const before = await archive.keys();
    expect(before).toHaveLength(2);
    await sweepRetention(archive.parts(FOREVER));
    expect(await archive.keys()).toEqual(before);
  });
});

describe('what has expired', () => {
  it('is known by the periods, and by what a sweep with shorter ones removed', async () => {
    const { store, parts } = newArchive();
    await sweepRetention(parts(PERIODS));
    const view = (periods: RetentionPeriods) =>
      createRetentionView(store, periods, 7 * DAY, () => NOW).expiredBefore();
    expect((await view(PERIODS))('data')).toBe(NOW - 30 * DAY);
    expect((await view(FOREVER))('data')).toBe(NOW - 30 * DAY);
    expect((await view({ ...FOREVER, data: 20 * DAY }))('data')).toBe(NOW - 20 * DAY);
    expect((await view(FOREVER))('jobinfo')).toBe(Number.NEGATIVE_INFINITY);
  });

  it('is never younger than the time in which recovery looks, also after a sweep whose clock was ahead', async () => {
    const { store, parts } = newArchive();
    await sweepRetention(parts(PERIODS, NOW + 365 * DAY));
    const view = createRetentionView(store, PERIODS, 7 * DAY, () => NOW);
    expect((await view.expiredBefore())('data')).toBe(NOW - 7 * DAY);
  });

  it('is what the periods say where the store ends objects by itself', async () => {
    const { store } = newArchive();
    const { expire: _, ...own } = store;
    const refusing = {
      ...own,
      read: () => {
        throw new Error('not to be read');
      },
    };
    const expiredBefore = await createRetentionView(refusing, PERIODS, 7 * DAY, () => NOW).expiredBefore();
    expect([expiredBefore('data'), expiredBefore('ledger')]).toEqual([
      NOW - 30 * DAY,
      Number.NEGATIVE_INFINITY,
    ]);
  });
});

describe('a sweep is due', () => {
  const state = {
    v: 1,
    expiredBefore: {},
    finishedAt: new Date(NOW).toISOString(),
    periods: PERIODS,
  } as const;

  it.each<[string, { now: number; periods?: RetentionPeriods }, boolean]>([
    ['within a day', { now: NOW + DAY - 1 }, false],
    ['after a day', { now: NOW + DAY }, true],
    ['when the last one lies in the future', { now: NOW - 1 }, true],
    ['with other periods', { now: NOW + 1, periods: { ...PERIODS, data: 31 * DAY } }, true],
    ['without periods', { now: NOW + 9 * DAY, periods: FOREVER }, false],
  ])('%s', (_when, { now, periods = PERIODS }, due) => {
    expect(isDue(state, periods, now)).toBe(due);
  });
});
