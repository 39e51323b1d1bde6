import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createIndexFiller } from '../../../../src/index/fill/fill-index.js';
import { fillAll, type IndexFiller } from '../../../../src/index/fill/index-filler.js';
import { indexInThread } from '../../../../src/index/fill/index-in-thread.js';
import type { IndexWorker } from '../../../../src/index/fill/open-index-of-store.js';
import { hasAllSince } from '../../../../src/index/index-extent.js';
import { HOUR } from '../../../../src/ledger/hours.js';
import { retryingReads } from '../../../../src/ledger/retrying-reads.js';
import type { ObjectStore } from '../../../../src/store/object-store.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import { mergeLedger } from '../../../support/ledger/merge-ledger.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';
import { partialListings } from '../../../support/store/partial-listings.js';
import { withUnlistable } from '../../../support/store/unlistable-folders.js';
import { withUnreadable } from '../../../support/store/unreadable-objects.js';

const WRITTEN = '2026-03-04T05:10:00.000Z';
const MINUTE = 60_000;
const FIRST = 'ledger/dt=2026-03-04/hour=05/r~00000001.ndjson';

describe('what the index cannot read of the ledger', () => {
  let now: number;
  let store: MemoryStore;
  let index: IndexWorker;
  let filler: IndexFiller;

  function begin(over: ObjectStore = store, subscribers?: readonly string[]): IndexFiller {
    return createIndexFiller({
      store: over,
      index,
      clock: () => now,
      subscribers,
      reach: 30 * 24 * HOUR,
      retention: 7 * 24 * HOUR,
      maxBytes: 2 ** 30,
    });
  }

  beforeEach(async () => {
    now = Date.parse(WRITTEN) + 3 * HOUR;
    store = createMemoryStore(undefined, () => now);
    for (let segment = 0; segment < 3; segment += 1) putSegment(store, WRITTEN, [ledgerLine(), ledgerLine()]);
    index = await indexInThread({ path: null }, 'store');
    filler = begin();
  });
  afterEach(() => index.close());

  const keysOf = (end: string) => [...store.objects.keys()].filter((key) => key.endsWith(end));
  const missing = async () => (await index.call('state')).missing;
  const countLines = async () => (await index.call('findLines', { limit: 100 })).length;

  /** Nothing is missing any more, and each line is counted once. */
  async function expectAll(): Promise<void> {
    await fillAll(filler);
    expect(await missing()).toEqual([]);
    expect(await countLines()).toBe(6);
    expect(await index.call('countLines')).toBe(6);
  }

  /** Takes objects out of the store, and puts them back. */
  function takeOut(keys: readonly string[]): () => void {
    const objects = keys.map((key) => [key, store.objects.get(key)] as const);
    for (const key of keys) store.objects.delete(key);
    return () => {
      for (const [key, object] of objects) if (object) store.objects.set(key, object);
    };
  }

  it('are merged objects that are missing, with the segments that they had, until both are back', async () => {
    await mergeLedger({ store, clock: () => now, keepSegments: null });
    const putBack = takeOut(keysOf('.gz'));
    const segmentsBack = takeOut(keysOf('.ndjson'));
    await fillAll(filler);
    const [object] = [...(await missing())].filter(({ key }) => key.startsWith('ledger-hours/'));
    expect(object).toEqual({ key: expect.stringMatching(/\.gz$/), segments: 0, unreadable: null });
    expect(await missing()).toContainEqual({ key: FIRST, segments: 3, unreadable: null });
    putBack();
    now += MINUTE;
    await expectAll();
    segmentsBack();
  });

  it('are merged objects that are damaged, though nothing is lacking where their segments are there', async () => {
    await mergeLedger({ store, clock: () => now, keepSegments: null });
    const [object = ''] = keysOf('.gz');
    store.put(object, 'x'.repeat(store.objects.get(object)?.body.length ?? 0));
    await fillAll(filler);
    expect(await missing()).toEqual([{ key: object, segments: 0, unreadable: null }]);
    expect(await countLines()).toBe(6);
    const { since, until, missing: named } = await index.call('state');
    expect(hasAllSince({ since: null, until: new Date(until ?? 0).toISOString(), missing: named }, 0)).toBe(
      true,
    );
    expect(since).toBeNull();
  });

  it('are records that cannot be read: what they covered is not known', async () => {
    await mergeLedger({ store, clock: () => now, keepSegments: null });
    const [record = ''] = keysOf('.json');
    const putBack = takeOut([record, ...keysOf('.ndjson')]);
    store.put(record, 'no record');
    await fillAll(filler);
    expect(await missing()).toEqual([{ key: record, segments: 1, unreadable: null }]);
    putBack();
    now += MINUTE;
    await expectAll();
  });

  it('are lines of a damaged segment, until it is repaired', async () => {
    const putBack = takeOut([FIRST]);
    store.put(FIRST, `${JSON.stringify(ledgerLine())}\ntorn\n`, Date.parse(WRITTEN));
    await fillAll(filler);
    expect(await missing()).toEqual([{ key: FIRST, segments: 1, unreadable: 1 }]);
    expect(await countLines()).toBe(5);
    putBack();
    now += MINUTE;
    await expectAll();
  });

  it.each([
    ['lines without an end', 'torn\n'],
    ['no text', ''],
  ])(
    'are %s of a segment that was damaged before its hour was merged, until it is restored',
    async (_, text) => {
      const restore = takeOut([FIRST]);
      store.put(FIRST, text);
      const merge = () => mergeLedger({ store, clock: () => now, keepSegments: null });
      expect((await merge()).faults).toMatchObject([{ reason: expect.stringContaining(FIRST) }]);
      await fillAll(filler);
      expect(await missing()).toMatchObject([{ key: FIRST }]);
      restore();
      now += 2 * MINUTE;
      await expectAll();
      now += 2 * 24 * HOUR;
      expect((await merge()).faults).toEqual([]);
      await expectAll();
    },
  );

  describe('is what the store does not give out although it answers:', () => {
    let denied: string[];
    beforeEach(() => {
      denied = [];
      filler = begin(
        retryingReads(
          withUnreadable(store, (key) => denied.includes(key)),
          [0],
        ),
      );
    });

    it.each([
      ['segments of an hour that is still written, the last one as well', MINUTE],
      ['segments of a whole hour', 3 * HOUR],
    ])('%s', async (_, age) => {
      now = Date.parse(WRITTEN) + age;
      const [, , last = ''] = keysOf('.ndjson');
      denied = [FIRST, last];
      await fillAll(filler);
      expect(await missing()).toEqual([
        { key: FIRST, segments: 1, unreadable: null },
        { key: last, segments: 1, unreadable: null },
      ]);
      expect(await countLines()).toBe(2);
      expect((await index.call('state')).until).toBe(now);
      now += 2 * MINUTE;
      await fillAll(filler);
      expect(await countLines()).toBe(2);
      denied = [];
      now += 2 * MINUTE;
      await expectAll();
    });

    it.each([
      ['a merged object', '.gz', 0],
      ['a record', '.json', 1],
    ])('%s, with the segments that it has', async (_, end, segments) => {
      await mergeLedger({ store, clock: () => now, keepSegments: null });
      takeOut(keysOf('.ndjson'));
      denied = keysOf(end);
      await fillAll(filler);
      expect(await missing()).toContainEqual({ key: denied[0], segments, unreadable: null });
      expect(await countLines()).toBe(0);
      denied = [];
      now += MINUTE;
      await expectAll();
    });

    it('nothing where its merged hour has it', async () => {
      await mergeLedger({ store, clock: () => now, keepSegments: null });
      denied = keysOf('.ndjson');
      await expectAll();
    });
  });

  describe('is what the store does not list although it answers:', () => {
    const HOUR_FOLDER = 'dt=2026-03-04/hour=05/';
    const unlisted = (key: string) => ({ key, segments: 1, unreadable: null });
    let denied: string[];
    beforeEach(() => {
      denied = [];
      filler = begin(retryingReads(withUnlistable(store, () => denied)), ['crm']);
    });

    it.each([
      ['an hour that is still written', `ledger/${HOUR_FOLDER}`, MINUTE],
      ['a whole hour', `ledger/${HOUR_FOLDER}`, 3 * HOUR],
      ['a day', 'ledger/dt=2026-03-04/', 26 * HOUR],
    ])('%s, with nothing newer', async (_, folder, age) => {
      now = Date.parse(WRITTEN) + age;
      putSegment(store, new Date(now).toISOString(), [ledgerLine()], 'newer');
      denied = [folder];
      await fillAll(filler);
      expect(await missing()).toContainEqual(unlisted(`ledger/${HOUR_FOLDER}`));
      expect((await index.call('state')).until).toBe(now);
      const isOpen = age === MINUTE;
      expect(await countLines()).toBe(isOpen ? 0 : 1);
      denied = [];
      now += 30 * MINUTE;
      await fillAll(filler);
      expect(await missing()).toEqual([]);
      expect(await index.call('countLines')).toBe(7);
    });

    it('the merged hours, whose segments are read where they are', async () => {
      await mergeLedger({ store, clock: () => now, keepSegments: null });
      denied = ['ledger-hours/dt=2026-03-04/'];
      await fillAll(filler);
      expect(await missing()).toContainEqual(unlisted(`ledger-hours/${HOUR_FOLDER}`));
      expect(await countLines()).toBe(6);
      denied = [];
      now += HOUR;
      await expectAll();
    });

    it.each(['outbox/', 'outbox/crm/sent/'])('what was sent to a subscriber (%s)', async (folder) => {
      denied = [folder];
      await fillAll(filler);
      expect(await missing()).toContainEqual(unlisted(`outbox/crm/sent/${HOUR_FOLDER}`));
      expect(await countLines()).toBe(6);
      denied = [];
      now += HOUR;
      await expectAll();
    });

    it('an hour behind a hundred others that still cannot be listed', async () => {
      for (let hours = 1; hours <= 120; hours += 1)
        putSegment(store, new Date(Date.parse(WRITTEN) + hours * HOUR).toISOString(), [ledgerLine()]);
      now = Date.parse(WRITTEN) + 123 * HOUR;
      denied = ['ledger/dt='];
      await fillAll(filler);
      expect(await countLines()).toBe(0);
      denied = [
        'ledger/dt=2026-03-05/',
        'ledger/dt=2026-03-06/',
        'ledger/dt=2026-03-07/',
        'ledger/dt=2026-03-08/',
        'ledger/dt=2026-03-09/',
      ];
      now += 3 * HOUR;
      await fillAll(filler);
      expect((await index.call('findLines', { limit: 100, until: Date.parse(WRITTEN) + HOUR })).length).toBe(
        6,
      );
    });

    it.each(['ledger/', 'ledger-hours/'])('not all of %s: then the ledger is not read', async (folder) => {
      denied = [folder];
      await expect(fillAll(filler)).rejects.toMatchObject({ condition: 'denied' });
      expect((await index.call('state')).until).toBeNull();
    });
  });

  it('is read again also where each process that fills the index ends at once', async () => {
    const putBack = takeOut([FIRST]);
    await fillAll(begin());
    putBack();
    now += MINUTE / 2;
    await fillAll(begin());
    expect(await missing()).toHaveLength(1);
    now += MINUTE / 2;
    await fillAll(begin());
    expect(await missing()).toEqual([]);
  });

  it('is read again ever more rarely, and at least hourly', async () => {
    const putBack = takeOut([FIRST]);
    await fillAll(filler);
    for (const hours of [1, 30]) {
      now += hours * HOUR;
      await fillAll(filler);
    }
    putBack();
    now += HOUR / 2;
    await fillAll(filler);
    expect(await missing()).toHaveLength(1);
    now += HOUR / 2;
    await expectAll();
  });

  it('is nothing once an hour was merged again whose merged object was deleted', async () => {
    await mergeLedger({ store, clock: () => now, keepSegments: null });
    takeOut(keysOf('.gz'));
    await fillAll(filler);
    expect(await missing()).toHaveLength(1);
    now += 2 * 24 * HOUR;
    await mergeLedger({ store, clock: () => now, keepSegments: null });
    expect(await mergeLedger({ store, clock: () => now, keepSegments: null })).toMatchObject({ faults: [] });
    await expectAll();
  });

  it('are lines and segments of an hour that is still written, until a minute for each hour after they were repaired', async () => {
    now = Date.parse(WRITTEN) + MINUTE;
    const [, second = ''] = keysOf('.ndjson');
    const putBack = takeOut([FIRST, second]);
    store.put(FIRST, `${JSON.stringify(ledgerLine())}\ntorn\n`, Date.parse(WRITTEN));
    await fillAll(filler);
    expect(await missing()).toEqual([
      { key: FIRST, segments: 1, unreadable: 1 },
      { key: second, segments: 1, unreadable: null },
    ]);
    now += MINUTE;
    await fillAll(filler);
    expect(await missing()).toHaveLength(2);
    putBack();
    now += MINUTE;
    await expectAll();
    expect((await index.call('state')).until).toBe(now);
    putSegment(store, WRITTEN, [ledgerLine()]);
    now += 2 * HOUR;
    await fillAll(filler);
    expect(await index.call('countLines')).toBe(7);
  });

  it('is behind a listing that is not whole: what it has is in, and no more is claimed', async () => {
    now = Date.parse(WRITTEN) + MINUTE;
    await fillAll(filler);
    const { until } = await index.call('state');
    for (const writer of ['a', 'z'])
      store.put(FIRST.replace('r~', `${writer}~`), `${JSON.stringify(ledgerLine())}\n`, Date.parse(WRITTEN));
    now += MINUTE;
    const listing = begin(partialListings(store, (key) => key.includes('/r~')));
    await expect(listing.addNew()).rejects.toThrow('is not whole');
    expect((await index.call('state')).until).toBe(until);
    expect(await countLines()).toBe(8);
    await fillAll(filler);
    expect((await index.call('state')).until).toBe(now);
    expect(await countLines()).toBe(8);
  });

  describe('is a day that a listing leaves out and a record names:', () => {
    const DAY = 24 * HOUR;
    const day = (n: number) => new Date(Date.parse(WRITTEN) + n * DAY).toISOString();
    const leavingOut = (folder: string) => begin(partialListings(store, (key) => key.includes(folder)));

    async function merged(): Promise<void> {
      for (const n of [1, 2]) putSegment(store, day(n), [ledgerLine()]);
      now += 2 * DAY;
      await mergeLedger({ store, clock: () => now, keepSegments: null });
    }

    it.each([
      ['the oldest', 'dt=2026-03-04/', 1],
      ['one in between', 'dt=2026-03-05/', 2],
    ])('what is older is not claimed to be in, without %s', async (_, folder, n) => {
      await merged();
      const partial = leavingOut(folder);
      const since = Math.floor(Date.parse(day(n)) / HOUR) * HOUR;
      for (let attempt = 0; attempt < 2; attempt += 1) {
        await expect(fillAll(partial)).rejects.toThrow(`is not whole: it lacks ledger-hours/${folder}`);
        expect(await index.call('state')).toMatchObject({ since });
      }
      await fillAll(filler);
      expect(await index.call('state')).toMatchObject({ since: null, missing: [] });
      expect(await countLines()).toBe(8);
    });

    it('what is newer neither', async () => {
      await fillAll(filler);
      const { until } = await index.call('state');
      await merged();
      const partial = leavingOut('dt=2026-03-05/');
      for (let attempt = 0; attempt < 2; attempt += 1) {
        await expect(fillAll(partial)).rejects.toThrow('is not whole');
        expect(await index.call('state')).toMatchObject({ since: null, until });
      }
      await fillAll(filler);
      expect((await index.call('state')).until).toBe(now);
      expect(await countLines()).toBe(8);
    });

    it('but not one that was deleted', async () => {
      await merged();
      for (const key of keysOf('')) if (key.includes('dt=2026-03-05/')) store.objects.delete(key);
      await fillAll(filler);
      expect(await index.call('state')).toMatchObject({ since: null });
      expect(await countLines()).toBe(7);
    });
  });

  it('are not claimed to be in while an hour is read again, also when that fails', async () => {
    let isFull = false;
    const failing = createIndexFiller({
      store,
      clock: () => now,
      reach: 30 * 24 * HOUR,
      retention: 7 * 24 * HOUR,
      maxBytes: 2 ** 30,
      index: {
        call(name, ...values) {
          if (isFull && name === 'apply') throw new Error('no space');
          return index.call(name, ...values);
        },
      },
    });
    await fillAll(failing);
    putSegment(store, WRITTEN, [ledgerLine()]);
    now += 25 * HOUR;
    isFull = true;
    await expect(fillAll(failing)).rejects.toThrow('no space');
    const { until } = await index.call('state');
    expect(until).toBeLessThanOrEqual(Date.parse(WRITTEN));
    isFull = false;
    await fillAll(failing);
    expect(await countLines()).toBe(7);
    expect((await index.call('state')).until).toBe(now);
  });
});
