import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Archive } from '../../../src/archive/archive.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import { type ObjectStore, StoreError } from '../../../src/store/object-store.js';
import {
  archiveOver,
  commit,
  context,
  keysOf,
  putItem,
  readAll,
} from '../../support/store/archive-fixture.js';
import { createMemoryStore } from '../../support/store/memory-store.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const KIB = 1024;
const PART = 256 * KIB;
const KINDS = ['data', 'jobinfo', 'transcript.txt', 'transcript.srt'] as const;

/** What becomes of one store call: it waits `turns` turns of the event loop, then reads its bytes, or fails. */
interface Fate {
  readonly turns: number;
  readonly fails: boolean;
}

/** Every call that reads a body or ends an upload meets its fate, in the order of the calls. */
function fatefulStore(
  store: ObjectStore,
  fates: readonly Fate[],
): ObjectStore & { whenIdle(): Promise<unknown> } {
  let calls = 0;
  const underWay: Promise<unknown>[] = [];
  function noted<T>(call: Promise<T>): Promise<T> {
    underWay.push(call.catch(() => undefined));
    return call;
  }
  async function meetFate(operation: string): Promise<void> {
    const { turns, fails } = fates[calls++ % fates.length] as Fate;
    for (let n = 0; n < turns; n++) await turn();
    if (fails) throw new StoreError(operation, 'EMFILE');
  }
  return {
    ...store,
    whenIdle: () => Promise.all(underWay),
    create: (key, body, headers) => noted(meetFate('create').then(() => store.create(key, body, headers))),
    async startUpload(key, headers) {
      await meetFate('startUpload');
      const upload = await store.startUpload(key, headers);
      return {
        write: (part) => noted(meetFate('write').then(() => upload.write(part))),
        complete: () => noted(meetFate('complete').then(() => upload.complete())),
        // Ends before the writes that are under way do.
        abort: async () => void noted(upload.abort()),
      };
    },
  };
}

/** A form of one job: each part filled with a byte of its own, so that foreign bytes show. */
async function deliver(archive: Archive, job: number, sizes: readonly number[]): Promise<boolean> {
  const staged = archive.begin(context({ jobId: `job${job}` }));
  try {
    for (const [index, size] of sizes.entries()) {
      const identity = { kind: KINDS[index % KINDS.length] ?? 'data', contentType: 'x/y' } as const;
      await putItem(staged, identity, contentOf(job, index, size));
    }
    await commit(staged);
    return true;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    await staged.discard();
    return false;
  }
}

function contentOf(job: number, index: number, size: number): Buffer {
  return Buffer.alloc(size, job * 8 + index + 1);
}

const digest = (content: Buffer) => createHash('sha256').update(content).digest('hex');

/** Digests of everything that was sent for a job. */
function sentFor(job: number, sizes: readonly number[]): Set<string> {
  return new Set(sizes.map((size, index) => digest(contentOf(job, index, size))));
}

async function foreignKeys(store: ObjectStore, jobs: readonly (readonly number[])[]): Promise<string[]> {
  const found: string[] = [];
  for (const key of await keysOf(store, 'jobs/')) {
    const job = Number(/^jobs\/job(\d+)\//.exec(key)?.[1]);
    const content = (await readAll(store, key)) ?? Buffer.alloc(0);
    if (!sentFor(job, jobs[job] ?? []).has(digest(content))) found.push(key);
  }
  return found;
}

const ONE_FAILS: readonly Fate[] = [
  { turns: 0, fails: true },
  { turns: 40, fails: false },
  { turns: 40, fails: false },
  { turns: 40, fails: false },
];

describe('bytes of another delivery', () => {
  it('never lie under a key of the file store when one write of a form fails beside its siblings', async () => {
    const { inner, remove } = await fileStore();
    try {
      const store = fatefulStore(inner, ONE_FAILS);
      const { archive, budget } = archiveOver(store, 16);
      const jobs = Array.from({ length: 12 }, () => [100 * KIB, 110 * KIB, 120 * KIB, 125 * KIB]);
      const taken: boolean[] = [];
      for (const [job, sizes] of jobs.entries()) taken.push(await deliver(archive, job, sizes));
      expect(taken).not.toContain(true);
      await store.whenIdle();
      expect(await foreignKeys(inner, jobs)).toEqual([]);
      expect(budget.used).toBe(0);
    } finally {
      await remove();
    }
  });

  it('never lie under a key of a store in memory, whatever calls fail or dawdle', async () => {
    const fate = fc.record({ turns: fc.nat({ max: 12 }), fails: fc.boolean() });
    const size = fc.constantFrom(1, 10 * KIB, 70 * KIB, 130 * KIB, 200 * KIB, PART, PART + 1, 3 * PART + 5);
    const form = fc.array(size, { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(form, { minLength: 2, maxLength: 8 }),
        fc.array(fate, { minLength: 1, maxLength: 12 }),
        async (jobs, fates) => {
          const inner = createMemoryStore();
          const store = fatefulStore(inner, fates);
          const { archive, budget } = archiveOver(store, 8);
          await Promise.all(jobs.map((sizes, job) => deliver(archive, job, sizes)));
          await store.whenIdle();
          expect(await foreignKeys(inner, jobs)).toEqual([]);
          await turn();
          expect(budget.used).toBe(0);
        },
      ),
      { numRuns: 20 },
    );
  });
});

async function fileStore() {
  const folder = await temporaryFolder();
  const inner = createFileStore({ directory: folder.path, partSize: PART, fsync: false });
  return { inner, remove: () => folder.remove() };
}
