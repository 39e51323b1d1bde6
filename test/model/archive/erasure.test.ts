import { describe, expect, it } from '@jest/globals';
import { isErased } from '../../../src/archive/erasure/erasure.js';
import { ERASURE_LOG, erasureKey } from '../../../src/archive/layout.js';
import type { StoredItem } from '../../../src/domain/item.js';
import { eraseJob } from '../../../src/operations/actions/erase/erase-job.js';
import { interleavings, type Turns } from '../../support/http/turns.js';
import { archiveOver, context, MEDIA, putItem, TRANSCRIPT } from '../../support/store/archive-fixture.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

const JOB = 'job1';
const PART = 1024;

interface Outcome {
  readonly items: readonly StoredItem[] | null;
  readonly keys: readonly string[];
}

/** Commits and erases at once, the store's calls in exactly this order. */
async function play(turns: Turns, sizes: readonly [number, number], taken: boolean): Promise<Outcome> {
  const memory = { ...createMemoryStore(), partSize: PART };
  if (taken) memory.put(`jobs/${JOB}/transcript.json`, 'what came first');
  const committing = turns.over('C', memory);
  const erasing = turns.over('E', memory);
  // Only what makes content visible takes turns here: the rest is done before the erasure can begin.
  const { create, startUpload, purge } = committing;
  const { archive } = archiveOver({ ...memory, create, startUpload, purge }, 32);
  const staged = archive.begin(context({ jobId: JOB, origin: 'recovery' }));
  await putItem(staged, TRANSCRIPT, Buffer.alloc(sizes[0], 'a'));
  await putItem(staged, MEDIA, Buffer.alloc(sizes[1], 'b'));
  const [items] = await Promise.all([
    staged.commit((jobId) => isErased(committing, jobId)).finally(() => turns.leave('C')),
    eraseJob(
      { store: erasing, keyPrefixes: [''], sleep: async () => {}, ledger: { append: async () => {} } },
      JOB,
      {
        actor: 'ada',
        reason: null,
      },
    ).finally(() => turns.leave('E')),
  ]);
  await staged.discard();
  return { items, keys: [...memory.objects.keys()].filter((key) => !key.startsWith(ERASURE_LOG)) };
}

describe('an erasure beside a commit', () => {
  it.each([
    ['of small items', [10, 10], false],
    ['of a streamed item', [10, 3 * PART], false],
    ['that becomes a conflict', [10, 10], true],
  ] as const)(
    '%s leaves nothing of the job, in whatever order their calls come',
    async (_name, sizes, taken) => {
      const results = new Set<string>();
      for (const turns of interleavings({ C: 6, E: 7 })) {
        const { items, keys } = await play(turns, sizes, taken);
        expect([turns.order, keys]).toEqual([turns.order, [erasureKey(JOB)]]);
        results.add(items === null ? 'refused' : 'committed');
      }
      expect([...results].sort()).toEqual(['committed', 'refused']);
    },
  );
});
