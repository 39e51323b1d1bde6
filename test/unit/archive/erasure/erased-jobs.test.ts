import { describe, expect, it } from '@jest/globals';
import {
  announceErasure,
  createErasedJobs,
  ERASURE_LEASE,
} from '../../../../src/archive/erasure/erased-jobs.js';
import { markErased } from '../../../../src/archive/erasure/erasure.js';
import { ERASURE_LOG, ERASURES_FOLDER, LAST_ERASURE } from '../../../../src/archive/layout.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';
import { partialListings } from '../../../support/store/partial-listings.js';

async function erase(store: ReturnType<typeof createMemoryStore>, jobId: string): Promise<void> {
  await markErased(
    store,
    jobId,
    { actor: 'ada', reason: null },
    { complete: false, keptUntil: null, finishedAt: null },
  );
  await announceErasure(store, jobId);
}

describe('the list of erased jobs in memory', () => {
  function replica(store = createMemoryStore()) {
    const clocks = [0, 0];
    const jobs = createErasedJobs(
      store,
      clocks.map((_, n) => () => clocks[n] ?? 0),
    );
    const callsOf = async (work: () => Promise<unknown>): Promise<string[]> => {
      const before = store.calls.length;
      await work();
      return store.calls.slice(before).map(({ operation, key }) => `${operation} ${key}`);
    };
    const pass = (ms: number, ...which: number[]): void => {
      for (const clock of which.length > 0 ? which : [0, 1]) clocks[clock] = (clocks[clock] ?? 0) + ms;
    };
    return { store, jobs, pass, callsOf };
  }

  it('knows the jobs that were erased before the first callback', async () => {
    const { store, jobs } = replica();
    await erase(store, 'j1');
    expect([await jobs.has('j1'), await jobs.has('j2')]).toEqual([true, false]);
  });

  it('asks the store for nothing within the lease, and then for one small object', async () => {
    const { jobs, pass, callsOf } = replica();
    await jobs.has('j1');
    expect(await callsOf(async () => jobs.has('j1'))).toEqual([]);
    pass(ERASURE_LEASE);
    expect(await callsOf(async () => Promise.all([jobs.has('j1'), jobs.has('j2')]))).toEqual([
      `read ${LAST_ERASURE}`,
    ]);
  });

  it.each([0, 1])('learns of an erasure when the lease is over by clock %i alone', async (clock) => {
    const { store, jobs, pass } = replica();
    expect(await jobs.has('j1')).toBe(false);
    await erase(store, 'j1');
    pass(ERASURE_LEASE + 1, clock);
    expect(await jobs.has('j1')).toBe(true);
  });

  it('reads the log only when there was an erasure, and of it only what is new', async () => {
    const { store, jobs, pass, callsOf } = replica();
    await erase(store, 'j1');
    await jobs.has('j1');
    pass(ERASURE_LEASE + 1);
    await erase(store, 'j2');
    const calls = await callsOf(async () => expect(await jobs.has('j3')).toBe(false));
    expect(calls).toEqual([`read ${LAST_ERASURE}`, `list ${ERASURE_LOG}`]);
    expect([await jobs.has('j1'), await jobs.has('j2')]).toEqual([true, true]);
  });

  it('sees an erasure on a replica of a process whose clock is behind', async () => {
    const { store, jobs, pass } = replica();
    // The last erasure came from a clock that is years ahead.
    store.put(LAST_ERASURE, '01ZZZZZZZZ0000000000000000');
    await jobs.has('j1');
    await erase(store, 'j1');
    pass(ERASURE_LEASE + 1);
    expect(await jobs.has('j1')).toBe(true);
  });

  it('does not take the answer of a look that began before the call when the lease is over', async () => {
    let release = (): void => {};
    let hold: Promise<void> | null = null;
    const store = createMemoryStore(async (operation) => {
      if (operation === 'read' && hold !== null) await hold;
    });
    const { jobs, pass } = replica(store);
    await jobs.has('j1');
    pass(ERASURE_LEASE + 1);
    hold = new Promise((done) => {
      release = done;
    });
    const slow = jobs.has('other');
    pass(ERASURE_LEASE + 1);
    const later = jobs.has('j1');
    hold = null;
    release();
    await slow;
    await later;
    const reads = store.calls.filter(({ operation }) => operation === 'read');
    // The first look, the slow one, and one that began after the second call.
    expect(reads).toHaveLength(3);
  });

  it.each([ERASURES_FOLDER, ERASURE_LOG])('fails while the listing of %s is empty', async (folder) => {
    const store = createMemoryStore();
    let isEmpty = true;
    const listing = partialListings(store, (key) => isEmpty && key.startsWith(folder));
    await erase(store, 'j1');
    const jobs = createErasedJobs(listing);
    await expect(jobs.has('j1')).rejects.toThrow('is not whole');
    isEmpty = false;
    expect(await jobs.has('j1')).toBe(true);
  });

  it('knows by the log a job whose mark is lost, while it runs and from the start', async () => {
    const { store, jobs } = replica();
    for (const jobId of ['j1', 'j2']) await erase(store, jobId);
    expect(await jobs.has('j1')).toBe(true);
    for (const key of store.objects.keys()) if (key.startsWith(ERASURES_FOLDER)) store.objects.delete(key);
    expect([await jobs.has('j1'), await replica(store).jobs.has('j1')]).toEqual([true, true]);
    expect(await jobs.has('j3')).toBe(false);
  });

  it('fails once the id of the last erasure is gone', async () => {
    const { store, jobs, pass } = replica();
    await erase(store, 'j1');
    await jobs.has('j1');
    store.objects.delete(LAST_ERASURE);
    pass(ERASURE_LEASE + 1);
    await expect(jobs.has('j1')).rejects.toMatchObject({ condition: 'missing' });
  });

  it('fails as the store does, and recovers', async () => {
    let broken = true;
    const store = createMemoryStore(() => {
      if (broken) throw new Error('down');
    });
    const { jobs } = replica(store);
    await expect(jobs.has('j1')).rejects.toThrow('down');
    broken = false;
    expect(await jobs.has('j1')).toBe(false);
  });
});
