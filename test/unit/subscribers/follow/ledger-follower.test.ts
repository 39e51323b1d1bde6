import { describe, expect, it } from '@jest/globals';
import { retryingReads } from '../../../../src/ledger/retrying-reads.js';
import { segmentKey } from '../../../../src/ledger/segment-key.js';
import type { ObjectStore } from '../../../../src/store/object-store.js';
import { beginningOf, createLedgerFollower } from '../../../../src/subscribers/follow/ledger-follower.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import { mergeLedger } from '../../../support/ledger/merge-ledger.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';
import { partialListings } from '../../../support/store/partial-listings.js';
import { withUnlistable } from '../../../support/store/unlistable-folders.js';
import { withUnreadable } from '../../../support/store/unreadable-objects.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A follower over a store of its own, and a clock. */
function world() {
  let now = Date.parse('2026-03-04T05:30:00Z');
  const store = createMemoryStore(undefined, () => now);
  const sent: (string | null)[] = [];
  const faults: string[] = [];

  async function follow(over: ObjectStore = store, state = beginningOf(store, now)) {
    const follower = createLedgerFollower({
      store: over,
      state: await state,
      clock: () => now,
      onFault: (_, { message }) => void faults.push(message),
    });
    return {
      ...follower,
      async look() {
        const before = sent.length;
        for await (const { lines } of follower.newLines()) sent.push(...lines.map(({ jobId }) => jobId));
        return sent.length > before;
      },
      async failToTake() {
        for await (const _ of follower.newLines()) throw new Error('the store failed');
      },
    };
  }

  return {
    store,
    sent,
    faults,
    follow,
    advance: (ms: number) => {
      now += ms;
    },
    put: (writer: string, ...jobs: string[]) =>
      putSegment(
        store,
        new Date(now).toISOString(),
        jobs.map((jobId) => ledgerLine({ jobId })),
        writer,
      ),
    merge: (keepSegments: number | null = null, objectBytes = 1_000_000) =>
      mergeLedger({ store, clock: () => now, keepSegments, objectBytes }),
  };
}

/** Key of the object of a record; empty without one. */
function objectOf(store: MemoryStore, hour: string, n: number): string {
  return [...store.objects.keys()].find((key) => key.startsWith(`ledger-hours/${hour}${n}-`)) ?? '';
}

describe('a follower of the ledger', () => {
  it('begins behind what is written, and asks for the next number of each writer over the turn of an hour', async () => {
    const { sent, put, advance, follow } = world();
    put('a', 'before');
    const follower = await follow();
    put('a', 'one');
    await follower.look();
    expect(follower.progress().hours).toEqual({ 'dt=2026-03-04/hour=05/': { a: 2 } });
    put('b', 'two');
    await follower.look();
    advance(HOUR);
    put('a', 'three');
    put('b', 'four');
    expect(await follower.look()).toBe(true);
    expect(await follower.look()).toBe(false);
    expect(sent).toEqual(['one', 'two', 'three', 'four']);
    expect(follower.progress()).toEqual({
      before: Date.parse('2026-03-04T06:00:00Z'),
      hours: { 'dt=2026-03-04/hour=06/': { a: 1, b: 1 } },
      passed: { 'dt=2026-03-04/hour=05/': { a: 2, b: 1 } },
      missing: {},
    });
  });

  it('asks by number where an hour has more segments than a call lists, and lists it once a minute', async () => {
    const { store, sent, put, advance, follow } = world();
    for (let index = 0; index < 501; index += 1) put('a', 'before');
    const follower = await follow();
    await follower.look();
    put('a', 'known');
    put('b', 'new writer');
    store.calls.length = 0;
    await follower.look();
    expect(sent).toEqual(['known']);
    expect(store.calls.map(({ operation }) => operation)).toEqual(['read', 'read', 'read']);
    advance(60_000);
    await follower.look();
    expect(sent).toEqual(['known', 'new writer']);
    advance(HOUR);
    for (let index = 0; index < 501; index += 1) put('b', 'next hour');
    await follower.look();
    store.calls.length = 0;
    await follower.look();
    // Not those of an hour that it has passed.
    expect(store.calls).toHaveLength(1);
  });

  it('passes over no hour that a listing leaves out and a record names', async () => {
    const { store, sent, put, advance, merge, follow } = world();
    const isPartial = { now: true };
    const partial = partialListings(store, (key) => isPartial.now && key.includes('dt=2026-03-05/'));
    const follower = await follow(partial);
    for (const job of ['one', 'two', 'three']) {
      put('a', job);
      advance(24 * HOUR);
    }
    await merge();
    await expect(follower.look()).rejects.toThrow(
      'is not whole: it lacks ledger-hours/dt=2026-03-05/hour=05/1.json',
    );
    isPartial.now = false;
    await follower.look();
    expect(sent.toSorted()).toEqual(['one', 'three', 'two']);
  });

  it('passes no segment that a store lists late', async () => {
    const { store, sent, put, follow } = world();
    let late = '';
    const lazy: ObjectStore = {
      ...store,
      async *list(...args) {
        for await (const listed of store.list(...args)) if (listed.key !== late) yield listed;
      },
    };
    const follower = await follow(lazy);
    late = put('a', 'first');
    put('a', 'second');
    await follower.look();
    expect(sent).toEqual(['first', 'second']);
  });

  it('names a number that is lost, once, and goes on', async () => {
    const { store, sent, faults, put, advance, follow } = world();
    const follower = await follow();
    put('a', 'one');
    const lost = put('a', 'lost');
    put('a', 'two');
    store.objects.delete(lost);
    await follower.look();
    advance(2 * HOUR);
    await follower.look();
    expect(sent).toEqual(['one', 'two']);
    expect(faults).toEqual(['ledger/dt=2026-03-04/hour=05/ has lost number 2 of a']);
  });

  it('brings what its caller failed to take again', async () => {
    const { sent, put, follow } = world();
    const follower = await follow();
    put('a', 'one');
    put('a', 'two');
    await expect(follower.failToTake()).rejects.toThrow('the store failed');
    await follower.look();
    expect(sent).toEqual(['one', 'two']);
  });

  it('sends the rest of an hour that was merged, and its segments deleted, meanwhile', async () => {
    const { sent, put, advance, follow, merge: run } = world();
    const follower = await follow();
    put('a', 'one');
    await follower.look();
    put('a', 'two');
    put('b', 'three');
    const state = follower.progress();
    advance(3 * HOUR);
    await run();
    advance(24 * HOUR);
    await run(HOUR);
    const next = await follow(undefined, Promise.resolve(state));
    await next.look();
    advance(10_000);
    await next.look();
    expect(sent).toEqual(['one', 'two', 'three']);
  });

  it('reads a merged hour whose segments were deleted while its lines waited to be sent', async () => {
    const { sent, put, advance, follow, merge: run } = world();
    const follower = await follow();
    const jobs = Array.from({ length: 20 }, (_, index) => `job-${index}`);
    for (const job of jobs) put('a', job);
    for await (const { lines } of follower.newLines()) {
      sent.push(...lines.map(({ jobId }) => jobId));
      if (sent.length > 1) continue;
      advance(3 * HOUR);
      await run();
      advance(24 * HOUR);
      await run(HOUR);
    }
    const next = await follow(undefined, Promise.resolve(follower.progress()));
    await next.look();
    expect(sent).toEqual(jobs);
  });

  it('goes on beside a merged hour that is damaged, and sends it once it can be read', async () => {
    const { store, sent, faults, put, advance, follow, merge: run } = world();
    const follower = await follow();
    await follower.look();
    advance(HOUR);
    put('a', 'damaged');
    const state = follower.progress();
    advance(HOUR);
    put('a', 'next');
    advance(2 * HOUR);
    await run();
    const hour = 'dt=2026-03-04/hour=06/';
    const key = objectOf(store, hour, 1);
    const file = store.objects.get(key);
    store.put(key, 'damaged');
    store.objects.delete(`ledger/${hour}a~00000001.ndjson`);
    const next = await follow(undefined, Promise.resolve(state));
    await next.look();
    expect(sent).toEqual(['next']);
    expect(faults).toEqual([expect.stringContaining(key), `ledger/${hour} has lost number 1 of a`]);
    if (file) store.objects.set(key, file);
    advance(HOUR);
    await next.look();
    expect(sent).toEqual(['next', 'damaged']);
    store.calls.length = 0;
    advance(10_000);
    await next.look();
    expect(store.calls.filter(({ key }) => key.includes(hour))).toEqual([]);
  });

  it('leaves a merged hour alone once a further record has what was damaged', async () => {
    const { store, sent, faults, put, advance, follow, merge: run } = world();
    const follower = await follow();
    put('a', 'one');
    put('a', 'two');
    advance(3 * HOUR);
    await run();
    const hour = 'dt=2026-03-04/hour=05/';
    store.objects.delete(objectOf(store, hour, 1));
    await follower.look();
    await run();
    expect(objectOf(store, hour, 2)).not.toBe('');
    advance(10_000);
    await follower.look();
    const count = faults.length;
    advance(10_000);
    await follower.look();
    expect(faults).toHaveLength(count);
    expect([...new Set(sent)]).toEqual(['one', 'two']);
  });

  it.each([
    { hour: 'unread', read: [] },
    { hour: 'read in part', read: ['read'] },
  ])(
    'sends each line once while a merged object is damaged and a segment is lost, in an hour that was $hour',
    async ({ read }) => {
      const { store, sent, put, advance, follow, merge: run } = world();
      const follower = await follow();
      advance(HOUR);
      for (const job of read) put('a', job);
      await follower.look();
      const lost = put('a', 'lost');
      for (const job of ['kept', 'behind', 'last']) put('a', job);
      advance(4 * HOUR);
      await run(null, 2 * (store.objects.get(lost)?.body.length ?? 0));
      const hour06 = 'dt=2026-03-04/hour=06/';
      const key = objectOf(store, hour06, 1);
      const file = store.objects.get(key);
      expect(objectOf(store, hour06, 2)).not.toBe('');
      store.put(key, 'damaged');
      store.objects.delete(lost);
      let next = follower;
      for (let look = 0; look < 4; look += 1) {
        next = await follow(undefined, Promise.resolve(next.progress()));
        await next.look();
        advance(11_000);
        await next.look();
        advance(11_000);
      }
      expect([...sent].sort()).toEqual(['behind', 'kept', 'last', ...read].sort());
      if (file) store.objects.set(key, file);
      await next.look();
      expect(sent).toContain('lost');
      advance(11_000);
      const count = sent.length;
      await next.look();
      expect(sent).toHaveLength(count);
    },
  );

  describe('goes on beside what cannot be read although the store answers, and sends it once when it can be:', () => {
    const HOUR_05 = 'dt=2026-03-04/hour=05/';
    /** Jobs beside the one whose segment cannot be read. */
    const OTHERS = ['before', 'beside', 'behind', 'next hour'];

    /** Writes an unreadable segment among others; `find` names what cannot be read. */
    async function unreadable(find: (store: MemoryStore, segment: string) => string) {
      const all = world();
      const { store, put, advance, follow } = all;
      let key = '';
      const over = retryingReads(
        withUnreadable(store, (each) => each === key),
        [0],
      );
      const follower = await follow(over);
      const write = () => {
        put('b', 'before');
        const segment = put('b', 'unreadable');
        put('a', 'beside');
        put('b', 'behind');
        advance(HOUR);
        put('b', 'next hour');
        return segment;
      };
      return {
        ...all,
        follower,
        write,
        over,
        block: (segment: string) => {
          key = find(store, segment);
        },
        unblock: () => {
          key = '';
        },
      };
    }
    const itself = (_: MemoryStore, segment: string) => segment;

    it('a segment of an open hour, named once', async () => {
      const { sent, faults, follower, write, block, unblock, advance } = await unreadable(itself);
      block(write());
      await follower.look();
      expect(sent.toSorted()).toEqual(OTHERS.toSorted());
      for (let look = 0; look < 3; look += 1) {
        advance(11_000);
        await follower.look();
      }
      expect(sent).toHaveLength(4);
      expect(faults).toEqual([expect.stringContaining('cannot be read although the store answers')]);
      unblock();
      advance(11_000);
      await follower.look();
      expect(sent.slice(4)).toEqual(['unreadable']);
      expect(follower.progress().missing).toEqual({});
      advance(26 * HOUR);
      await follower.look();
      expect(sent).toHaveLength(5);
    });

    it('the last segment of a writer, after a restart once its hour was passed', async () => {
      const { sent, faults, follower, put, over, block, unblock, advance, follow } = await unreadable(itself);
      put('b', 'before');
      block(put('b', 'unreadable'));
      for (let look = 0; look < 3; look += 1) await follower.look();
      expect(faults).toHaveLength(1);
      put('b', 'behind');
      await follower.look();
      advance(3 * HOUR);
      await follower.look();
      expect(sent).toEqual(['before', 'behind']);
      unblock();
      const next = await follow(over, Promise.resolve(follower.progress()));
      await next.look();
      expect(sent).toEqual(['before', 'behind', 'unreadable']);
      advance(11_000);
      await next.look();
      expect(sent).toHaveLength(3);
    });

    it.each([
      ['a segment of a whole hour', itself, false],
      ['a merged object', (store: MemoryStore) => objectOf(store, HOUR_05, 1), true],
      ['a record', () => `ledger-hours/${HOUR_05}1.json`, true],
    ])('%s', async (_, find, isMerged) => {
      const { store, sent, follower, write, over, block, unblock, advance, follow, merge } =
        await unreadable(find);
      const state = follower.progress();
      const segment = write();
      advance(3 * HOUR);
      if (isMerged) await merge();
      block(segment);
      if (isMerged) store.objects.delete(segment);
      let next = await follow(over, Promise.resolve(state));
      await next.look();
      expect(sent.toSorted()).toEqual(OTHERS.toSorted());
      next = await follow(over, Promise.resolve(next.progress()));
      await next.look();
      advance(11_000);
      await next.look();
      expect(sent).toHaveLength(4);
      unblock();
      advance(11_000);
      await next.look();
      expect(sent.slice(4)).toEqual(['unreadable']);
      for (let hours = 0; hours < 30; hours += 1) {
        advance(HOUR);
        await next.look();
      }
      expect(sent).toHaveLength(5);
    });

    it('more numbers in a row than are asked for one by one', async () => {
      const { sent, store, put, advance, follow } = world();
      let isDenied = true;
      const follower = await follow(
        retryingReads(
          withUnreadable(store, (key) => isDenied && /a~0000[01]/.test(key) && !key.includes('~00000001')),
          // Without a pause of a second before each.
          [0],
        ),
      );
      for (let job = 0; job < 1_100; job += 1) put('a', `job-${job}`);
      put('b', 'beside');
      await follower.look();
      expect(sent).toEqual(['job-0', 'beside']);
      isDenied = false;
      advance(11_000);
      await follower.look();
      expect(sent).toHaveLength(1_101);
      expect(new Set(sent).size).toBe(1_101);
      expect(follower.progress().missing).toEqual({});
    });
  });

  it.each([
    ['an hour', 'ledger/dt=2026-03-04/hour=05/'],
    ['a day', 'ledger/dt=2026-03-04/'],
    ['a merged hour', 'ledger-hours/dt=2026-03-04/hour=05/'],
    ['a merged day', 'ledger-hours/dt=2026-03-04/'],
  ])(
    'goes on beside %s that cannot be listed, also after a restart, and brings its lines once it can',
    async (_, folder) => {
      const { store, sent, faults, put, advance, merge, follow } = world();
      let denied = [folder];
      const over = retryingReads(withUnlistable(store, () => denied));
      const first = await follow(over);
      put('a', 'unlisted');
      if (!folder.startsWith('ledger-hours/')) await first.look();
      advance(2 * HOUR);
      if (folder.startsWith('ledger-hours/')) {
        await merge();
        for (const key of store.objects.keys()) if (key.endsWith('.ndjson')) store.objects.delete(key);
      }
      await first.look();
      advance(24 * HOUR);
      put('a', 'newer');
      await first.look();
      expect(sent).toEqual(['newer']);
      expect(faults.join()).toContain(`${folder}`);
      const second = await follow(over, Promise.resolve(first.progress()));
      await second.look();
      expect(sent).toEqual(['newer']);
      for (let looks = 0; looks < 2; looks += 1) {
        denied = [];
        advance(MINUTE);
        await second.look();
      }
      expect(sent).toEqual(['newer', 'unlisted']);
      advance(24 * HOUR);
      await second.look();
      expect(sent).toHaveLength(2);
    },
  );

  describe('brings each line once when the clock was ahead and is set back', () => {
    it('those of the hours that it had passed, which are written again', async () => {
      const { store, sent, put, advance, follow } = world();
      const follower = await follow();
      put('a', 'before');
      await follower.look();
      advance(30 * 24 * HOUR);
      put('a', 'ahead');
      await follower.look();
      put('a', 'last ahead');
      advance(-30 * 24 * HOUR);
      put('b', 'behind');
      await follower.look();
      expect(sent).toEqual(['before', 'ahead', 'behind', 'last ahead']);
      store.calls.length = 0;
      await follower.look();
      expect(store.calls.map(({ operation }) => operation)).toEqual(['list', 'list']);
      advance(24 * HOUR);
      await follower.look();
      expect(sent).toHaveLength(4);
    });

    it('those of hours in which nobody followed, after a restart', async () => {
      const { sent, put, advance, follow } = world();
      const follower = await follow();
      put('a', 'before');
      await follower.look();
      advance(30 * 24 * HOUR);
      await follower.look();
      advance(-30 * 24 * HOUR);
      put('b', 'one');
      advance(2 * HOUR);
      put('b', 'two');
      advance(2 * HOUR);
      const next = await follow(undefined, Promise.resolve(follower.progress()));
      await next.look();
      expect(sent).toEqual(['before', 'one', 'two']);
    });
  });

  it('leaves out lines that cannot be read, of a newer version as well', async () => {
    const { store, sent, put, follow } = world();
    const follower = await follow();
    const lines = [
      'torn',
      JSON.stringify({ ...ledgerLine(), v: 2 }),
      JSON.stringify(ledgerLine({ jobId: 'beside' })),
    ];
    putSegment(store, '2026-03-04T05:30:00Z', lines, 'a');
    put('a', 'behind');
    await follower.look();
    expect(sent).toEqual(['beside', 'behind']);
  });

  describe('brings once, within a day, what appears in an hour that was whole', () => {
    const HOUR_05 = 'dt=2026-03-04/hour=05/';
    const late = ({ store }: ReturnType<typeof world>, hour: string, writer: string, number: number) =>
      store.put(segmentKey({ hour, writer, number }), `${JSON.stringify(ledgerLine({ jobId: 'late' }))}\n`);
    /** A follower that has sent `one`, and is past its hour. */
    const passedHour = async ({ put, advance, follow }: ReturnType<typeof world>) => {
      const follower = await follow();
      put('a', 'one');
      await follower.look();
      advance(2 * HOUR);
      await follower.look();
      return follower;
    };

    it.each([
      ['from a writer that it knows', HOUR_05, 'a', 3],
      ['from a new writer', HOUR_05, 'c', 1],
      ['where nothing was written', 'dt=2026-03-04/hour=06/', 'a', 1],
    ])('%s', async (_, hour, writer, number) => {
      const all = world();
      const { sent, faults, put, advance, follow } = all;
      put('b', 'before the subscription');
      const follower = await follow();
      put('a', 'one');
      put('a', 'two');
      await follower.look();
      advance(4 * HOUR);
      await follower.look();
      late(all, hour, writer, number);
      for (let hours = 0; hours < 72; hours += 1) {
        advance(HOUR);
        await follower.look();
      }
      expect(sent).toEqual(['one', 'two', 'late']);
      expect(faults).toEqual([]);
    });

    it('after a restart, also when it was merged and its segments are deleted', async () => {
      const all = world();
      const { store, sent, advance, follow, merge: run } = all;
      const follower = await passedHour(all);
      await run();
      late(all, HOUR_05, 'a', 2);
      await run();
      advance(2 * HOUR);
      await run(HOUR);
      expect([...store.objects.keys()].filter((key) => key.startsWith('ledger/'))).toEqual([]);
      const next = await follow(undefined, Promise.resolve(follower.progress()));
      await next.look();
      const last = await follow(undefined, Promise.resolve(next.progress()));
      await last.look();
      expect(sent).toEqual(['one', 'late']);
    });

    it('again when its caller failed to take it', async () => {
      const all = world();
      const { sent, advance } = all;
      const follower = await passedHour(all);
      late(all, HOUR_05, 'a', 2);
      advance(24 * HOUR);
      await expect(follower.failToTake()).rejects.toThrow('the store failed');
      await follower.look();
      await follower.look();
      expect(sent).toEqual(['one', 'late']);
    });

    it('of the last three days alone, and of as many writers as a state has room for', async () => {
      const all = world();
      const { sent, put, advance } = all;
      const follower = await passedHour(all);
      expect(Object.keys(follower.progress().passed).sort()).toEqual([HOUR_05, 'dt=2026-03-04/hour=06/']);
      for (let writer = 0; writer < 5_001; writer += 1) put(`w${writer}`, 'job');
      await follower.look();
      advance(2 * HOUR);
      await follower.look();
      expect(Object.keys(follower.progress().passed)).toEqual(['dt=2026-03-04/hour=08/']);
      expect(sent).toHaveLength(5_002);
      advance(100 * HOUR);
      await follower.look();
      expect(Object.keys(follower.progress().passed)).toHaveLength(72);
    });
  });
});
