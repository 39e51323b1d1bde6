import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { HOUR, hourAt } from '../../../../src/ledger/hours.js';
import { recordKey } from '../../../../src/ledger/ledger-keys.js';
import { createMerger } from '../../../../src/ledger/merge/merge.js';
import { StoreError } from '../../../../src/store/object-store.js';
import { compressedOtherwise } from '../../../support/ledger/compressed-otherwise.js';
import { writeHour } from '../../../support/ledger/file-ledger.js';
import { contentsOfLog, type LogContents } from '../../../support/ledger/log-contents.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';
import { partialListings } from '../../../support/store/partial-listings.js';
import { withUnlistable } from '../../../support/store/unlistable-folders.js';

const START = Date.parse('2026-03-04T05:00:00.000Z');
const RECORD = recordKey('ledger/', hourAt(START), 1);
const UNMERGED = new Date(START).toISOString();

let now: number;
let store: ReturnType<typeof createMemoryStore>;
let object: string;
let written: LogContents;

const merge = () => createMerger({ store, clock: () => now, keepSegments: null }).run();

/** Merges an hour as a process does that dies between the object and its record. */
beforeEach(async () => {
  now = START + 3 * HOUR;
  store = createMemoryStore(undefined, () => now);
  await writeHour(store, START, { segments: 6, lines: 5 });
  written = await contentsOfLog(store);
  await merge();
  object = [...store.objects.keys()].find((key) => key.endsWith('.gz')) ?? '';
  store.objects.delete(RECORD);
});

function replaceObject(change: (body: Buffer) => Buffer): void {
  const stored = store.objects.get(object);
  if (stored) store.objects.set(object, { ...stored, body: change(stored.body) });
}

describe('hours that cannot be read', () => {
  const HOURS = 7;
  let broken: ReturnType<typeof createMemoryStore>;

  beforeEach(async () => {
    broken = createMemoryStore(
      (operation, key) => {
        if (operation === 'read' && /^ledger\/.*hour=(?!12)/.test(key))
          throw new StoreError(operation, 'input/output error');
      },
      () => now,
    );
    for (let n = 1; n <= HOURS; n += 1) await writeHour(broken, START + n * HOUR, { segments: 1, lines: 1 });
    now = START + 24 * HOUR;
  });

  it('keep none of the others from being merged, however many there are', async () => {
    const merger = createMerger({ store: broken, clock: () => now, keepSegments: null });
    const { hours, faults } = await merger.run();
    expect({ hours, faults: faults.length }).toEqual({ hours: 1, faults: HOURS - 1 });
  });

  it('keep none from being merged that is behind a day that cannot be listed, and no later record names them', async () => {
    const folder = hourAt(START).slice(0, 'dt=2026-03-04/'.length);
    const open = createMemoryStore(undefined, () => now);
    for (const time of [START, START + 24 * HOUR]) await writeHour(open, time, { segments: 1, lines: 1 });
    for (const at of ['crm', 'erp']) open.put(`outbox/${at}/state.json`, '{}');
    now = START + 48 * HOUR;
    const merge = (denied: readonly string[]) =>
      createMerger({
        store: withUnlistable(open, () => denied),
        clock: () => now,
        keepSegments: null,
      }).run();
    const { hours, faults } = await merge([`ledger/${folder}`, 'outbox/crm/sent/']);
    expect(hours).toBe(1);
    expect(faults).toHaveLength(25);
    expect(faults[5]).toMatchObject({ hour: `ledger/${hourAt(START)}` });
    expect(faults[24]).toMatchObject({ hour: 'outbox/crm/sent/' });
    const record = open.objects.get(recordKey('ledger/', hourAt(START + 24 * HOUR), 1));
    expect(JSON.parse(String(record?.body))).toMatchObject({ previous: null });
    expect(await merge([])).toMatchObject({ hours: 1, faults: [] });
  });

  it('are read once a day, and named by each run, where their segments cannot be deleted', async () => {
    let isDenied = true;
    const open = createMemoryStore(
      (operation, key) => {
        if (isDenied && operation === 'delete' && key.endsWith('~00000001.ndjson'))
          throw new StoreError(operation, 'access denied');
      },
      () => now,
    );
    await writeHour(open, START, { segments: 3, lines: 1 });
    now = START + 3 * HOUR;
    const merger = createMerger({ store: open, clock: () => now, keepSegments: 0 });
    const run = async () => {
      open.calls.length = 0;
      const { faults, deleted } = await merger.run();
      const reads = open.calls.filter(({ operation }) => operation === 'read').length;
      return { faults: faults.map(({ reason }) => reason), deleted, isRead: reads > 0 };
    };
    const reason = expect.stringContaining('access denied');
    await run();
    now += 2 * HOUR;
    expect(await run()).toEqual({ faults: [reason], deleted: 2, isRead: true });
    now += 2 * HOUR;
    expect(await run()).toEqual({ faults: [reason], deleted: 0, isRead: false });
    isDenied = false;
    now += 24 * HOUR;
    expect(await run()).toEqual({ faults: [], deleted: 1, isRead: true });
  });

  it('end the run when the store does not answer any more', async () => {
    const merger = createMerger({
      store: { ...broken, identity: () => Promise.reject(new StoreError('identity', 'away')) },
      clock: () => now,
      keepSegments: null,
    });
    expect((await merger.run()).faults.at(-1)).toEqual({
      hour: null,
      reason: 'merge: 5 hours failed in a row',
    });
  });
});

describe('an object that a dead process left without a record', () => {
  it('gets one from the next merge', async () => {
    const before = store.objects.get(object);
    expect(await merge()).toMatchObject({ records: 1, lines: 30, oldestOpen: null, faults: [] });
    expect(store.objects.get(object)).toBe(before);
    for (const { key } of written.segments) store.objects.delete(key);
    expect(await contentsOfLog(store)).toEqual(written);
  });

  it.each([
    ['is cut off', (body: Buffer) => body.subarray(0, -3)],
    ['has another text', () => gzipSync('another\n')],
    ['is no gzip', () => Buffer.from('junk')],
    ['is empty', () => Buffer.alloc(0)],
    ['has the bytes of another line of Node', compressedOtherwise],
  ])('does not hold up the hour for more than a day when it %s', async (_, change) => {
    replaceObject(change);
    for (const hours of [0, 23]) {
      now += hours * HOUR;
      const { oldestOpen, faults } = await merge();
      expect(oldestOpen).toBe(UNMERGED);
      expect(faults).toEqual([{ hour: `ledger/${hourAt(START)}`, reason: expect.stringContaining(object) }]);
      expect(await contentsOfLog(store)).toEqual(written);
    }
    now += 2 * HOUR;
    expect(await merge()).toMatchObject({ records: 1, oldestOpen: null, faults: [] });
    for (const { key } of written.segments) store.objects.delete(key);
    expect(await contentsOfLog(store)).toEqual(written);
  });
});

describe('an object that no record names', () => {
  it('does not hold up its hour where it cannot be deleted', async () => {
    const unnamed = object.replace(/\d+-\w+(?=\.ndjson)/, '1-0123456789abcdef');
    store.put(unnamed, 'of a dead process', now - 48 * HOUR);
    const cannotDelete: typeof store = { ...store, delete: () => Promise.reject(new Error('denied')) };
    const report = await createMerger({ store: cannotDelete, clock: () => now, keepSegments: null }).run();
    const faults = [{ hour: `ledger/${hourAt(START)}`, reason: 'denied' }];
    expect(report).toMatchObject({ records: 1, swept: 0, oldestOpen: null, faults });
    expect(await merge()).toMatchObject({ swept: 1, faults: [] });
    expect(store.objects.has(unnamed)).toBe(false);
  });
});

describe('an hour that is over only by the clock of this machine', () => {
  it('gets no record, also from a process that has measured no clock before', async () => {
    let offset = 0;
    const unmeasured: typeof store = {
      ...store,
      clockOffset: () => offset,
      create(...given) {
        offset = -2 * HOUR;
        return store.create(...given);
      },
    };
    const merger = createMerger({ store: unmeasured, clock: () => now, keepSegments: null });
    const { records, faults } = await merger.run();
    expect(records).toBe(0);
    const reason = expect.stringContaining("120 minutes ahead of the store's");
    expect(faults).toEqual([{ hour: `ledger/${hourAt(START)}`, reason }]);
    expect(store.objects.has(RECORD)).toBe(false);
  });
});

describe('a segment that cannot be merged', () => {
  it('is named, and read once in a run', async () => {
    store.objects.delete(object);
    const key = written.segments[2]?.key ?? '';
    store.put(key, 'no line\n', START + HOUR / 2);
    store.calls.length = 0;
    const { records, faults } = await merge();
    expect(records).toBe(1);
    expect(faults.map(({ reason }) => reason)).toEqual([expect.stringContaining(key)]);
    expect(store.calls.filter((call) => call.operation === 'read' && call.key === key)).toHaveLength(1);
  });
});

describe('a record that a listing leaves out', () => {
  const DAYS = 72 * HOUR;

  it.each<[string, (key: string) => boolean]>([
    ['alone', (key) => key === RECORD],
    ['with its object', (key) => key.startsWith('ledger-hours/')],
  ])('ends a merge with a fault when it is left out %s, and deletes nothing', async (_, isLeftOut) => {
    await merge();
    const before = [...store.objects.keys()];
    now += DAYS;
    const merger = createMerger({
      store: partialListings(store, isLeftOut),
      clock: () => now,
      keepSegments: null,
    });
    const { faults, records, swept } = await merger.run({ since: new Date(0) });
    expect({ records, swept }).toEqual({ records: 0, swept: 0 });
    expect(faults).toEqual([
      { hour: `ledger/${hourAt(START)}`, reason: expect.stringContaining('is not whole') },
    ]);
    expect([...store.objects.keys()]).toEqual(before);
  });
});

describe('what was sent to a subscriber', () => {
  const NOON = Date.parse('2026-03-05T12:30:00.000Z');

  it('is deleted by the hour once the index reaches no further back, and nothing else is', async () => {
    const sent = createMemoryStore();
    const keys = [
      'outbox/crm/sent/dt=2026-03-01/hour=05/w~00000001.ndjson',
      'outbox/crm/sent/dt=2026-03-02/hour=23/w~00000001.ndjson',
      'outbox/crm/sent-hours/dt=2026-03-02/hour=23/1.json',
      'outbox/gone/sent/dt=2026-03-01/hour=05/w~00000001.ndjson',
      'outbox/crm/sent/dt=2026-03-03/hour=12/w~00000001.ndjson',
      'outbox/crm/state.json',
    ];
    for (const key of keys) sent.put(key, 'x');
    const parts = { store: sent, clock: () => NOON, keepSegments: null };
    await createMerger(parts).run();
    expect([...sent.objects.keys()]).toEqual(keys);
    await createMerger({ ...parts, keepSent: 48 * HOUR }).run();
    expect([...sent.objects.keys()]).toEqual(keys.slice(4));
  });

  it('is deleted beside objects that cannot be deleted and hours that cannot be listed, which keep their merged hours for a day', async () => {
    const inner = createMemoryStore();
    // More than are deleted at once.
    const numbers = Array.from({ length: 30 }, (_, index) => index + 10);
    const hours = ['dt=2026-03-01/hour=05/', 'dt=2026-03-01/hour=06/', 'dt=2026-03-01/hour=07/'];
    for (const hour of hours) {
      for (const n of numbers) inner.put(`outbox/crm/sent/${hour}w~000000${n}.ndjson`, 'x');
      inner.put(`outbox/crm/sent-hours/${hour}1.json`, 'x');
    }
    const stuck = `outbox/crm/sent/${hours[0]}w~00000010.ndjson`;
    let tries = 0;
    const denying = {
      ...inner,
      async delete(key: string) {
        if (key !== stuck) return inner.delete(key);
        tries += 1;
        throw new StoreError('delete', 'access denied');
      },
    };
    const sent = withUnlistable(denying, () => [`outbox/crm/sent/${hours[1]}`]);
    let time = NOON;
    const merger = createMerger({ store: sent, clock: () => time, keepSegments: null, keepSent: HOUR });
    for (const hoursLater of [0, 1, 22]) {
      time += hoursLater * HOUR;
      const { faults } = await merger.run();
      expect(faults.map(({ reason }) => reason).join()).toContain('access denied');
    }
    expect(tries).toBe(1);
    const unlisted = numbers.map((n) => `outbox/crm/sent/${hours[1]}w~000000${n}.ndjson`);
    const merged = hours.slice(0, 2).map((hour) => `outbox/crm/sent-hours/${hour}1.json`);
    expect([...inner.objects.keys()].sort()).toEqual([...merged, stuck, ...unlisted].sort());
    time += HOUR;
    await merger.run();
    expect(tries).toBe(2);
  });
});
