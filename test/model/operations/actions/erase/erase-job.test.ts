import { describe, expect, it } from '@jest/globals';
import { ulid } from 'ulid';
import { ERASURE_LOG, erasureKey } from '../../../../../src/archive/layout.js';
import { createQuarantine } from '../../../../../src/archive/quarantine/quarantine.js';
import type { LedgerLine } from '../../../../../src/domain/delivery.js';
import { eraseJob } from '../../../../../src/operations/actions/erase/erase-job.js';
import type { ObjectStore } from '../../../../../src/store/object-store.js';
import { keepDeadEvent } from '../../../../../src/subscribers/dead-events.js';
import { interleavings } from '../../../../support/http/turns.js';
import { deadEventOf } from '../../../../support/outbox/subscribed.js';
import { quarantinedRequest } from '../../../../support/quarantined-request.js';
import { createMemoryStore, type MemoryStore } from '../../../../support/store/memory-store.js';
import { partialListings } from '../../../../support/store/partial-listings.js';

const ORDER = { actor: 'tester', reason: null };

/** Without the log of erasures. */
function keysOf({ objects }: Pick<MemoryStore, 'objects'>): string[] {
  return [...objects.keys()].filter((key) => !key.startsWith(ERASURE_LOG)).toSorted();
}

/** @param lines takes those of the erasure */
function erase(store: ObjectStore, jobId: string, lines: LedgerLine[] = []) {
  const ledger = { append: async (line: LedgerLine) => void lines.push(line) };
  return eraseJob({ store, keyPrefixes: [''], sleep: async () => {}, ledger }, jobId, ORDER);
}

describe('erasing a job', () => {
  it('removes its dead events, and no others', async () => {
    const store = createMemoryStore();
    const [own, other] = ['j1', 'j2'].map((jobId) => deadEventOf(jobId));
    if (!own || !other) throw new Error('no events');
    await keepDeadEvent(store, own);
    await keepDeadEvent(store, other);
    await erase(store, 'j1');
    expect(keysOf(store).filter((key) => key.includes('outbox'))).toEqual([
      `.outbox-jobs/j2/crm/${other.event.id}`,
      `outbox/crm/dead/${other.event.id}.json`,
    ]);
    await keepDeadEvent(store, own);
    expect(keysOf(store).filter((key) => key.includes(own.event.id))).toEqual([]);
  });

  it('also erases objects that are stored meanwhile, and marks the job before it deletes', async () => {
    let late = 2;
    const store = createMemoryStore((operation, key) => {
      if (operation !== 'delete' || late === 0) return;
      expect(store.objects.has(erasureKey('j1'))).toBe(true);
      late -= 1;
      store.put(`${key}.late${late}`, 'x');
    });
    store.put('jobs/j1/transcript.json', 'x');
    store.put('jobs/j10/transcript.json', 'x');
    const lines: LedgerLine[] = [];
    const result = await erase(store, 'j1', lines);
    expect(keysOf(store)).toEqual([erasureKey('j1'), 'jobs/j10/transcript.json']);
    expect(result.erased).toMatchObject({ artefacts: 3, conflicts: 0, quarantined: 0, bytes: 3 });
    expect(lines).toEqual([expect.objectContaining({ outcome: 'erased', jobId: 'j1', bytes: 3 })]);
  });

  it('says that one which failed may have erased more', async () => {
    let fails = true;
    const store = createMemoryStore((operation, key) => {
      if (fails && operation === 'delete' && key.endsWith('.txt')) throw new Error('unavailable');
    });
    for (const name of ['jobinfo.json', 'transcript.txt']) store.put(`jobs/j1/${name}`, 'x');
    const lines: LedgerLine[] = [];
    await expect(erase(store, 'j1', lines)).rejects.toThrow('unavailable');
    fails = false;
    await erase(store, 'j1', lines);
    await erase(store, 'j1', lines);
    expect(lines.map(({ reason }) => reason)).toEqual([
      '1 artefact erased; an earlier erasure that did not finish may have erased more',
      'nothing erased',
    ]);
  });

  it.each<[string, (key: string) => boolean]>([
    ['everything', () => true],
    ['an artefact', (key) => key === 'jobs/j1/transcript.json'],
  ])('does not claim to be done while listings leave out %s', async (_, isLeftOut) => {
    let isPartial = true;
    const memory = createMemoryStore();
    const store = partialListings(memory, (key) => isPartial && isLeftOut(key));
    memory.put('jobs/j1/transcript.json', 'x');
    memory.put('jobs/j1/transcript.txt', 'x');
    const lines: LedgerLine[] = [];
    await expect(erase(store, 'j1', lines)).rejects.toThrow('is not whole');
    expect(lines).toEqual([]);
    isPartial = false;
    expect(await erase(store, 'j1')).toMatchObject({ complete: true });
    expect(keysOf(memory)).toEqual([erasureKey('j1')]);
  });

  it('does not go on for ever against a writer that never stops, and does not claim to be done', async () => {
    let written = 0;
    const store = createMemoryStore((operation) => {
      if (operation === 'delete') store.put(`jobs/j1/attachments/${++written}`, 'x');
    });
    store.put('jobs/j1/data', 'x');
    const lines: LedgerLine[] = [];
    await expect(erase(store, 'j1', lines)).rejects.toThrow(/still being written to/);
    expect(lines).toEqual([]);
  });
});

describe('erasing a job of which the quarantine holds bodies', () => {
  const request = (jobId: string) => quarantinedRequest({ jobId, deliveryId: ulid() });

  function leftOf(store: ReturnType<typeof createMemoryStore>, jobId: string): string[] {
    return [...store.objects]
      .filter(([key, { headers }]) => headers.metadata['job-id'] === jobId || key.includes(`/${jobId}/`))
      .map(([key]) => key);
  }

  it('asks the store for nothing of other jobs', async () => {
    const store = createMemoryStore();
    const quarantine = createQuarantine(store);
    for (let n = 0; n < 300; n += 1) await quarantine.keep(request(`other${n}`), Buffer.from('{'));
    for (let n = 0; n < 3; n += 1) await quarantine.keep(request('job1'), Buffer.from('{'));
    const before = store.calls.length;
    const { erased } = await erase(store, 'job1');
    expect(erased).toMatchObject({ quarantined: 3, bytes: 3 });
    expect(leftOf(store, 'job1')).toEqual([]);
    expect(leftOf(store, 'other7')).toHaveLength(3);
    // Two rounds of lists, a list for each body in each round, a delete of each body, its request and its index entry; the
    // marks, uploads and the index itself; in each round a list of dead events. At the end the list shows the mark, and no artefact is
    // there.
    expect(store.calls.length - before).toBeLessThanOrEqual(2 * (3 + 3) + 3 * 3 + 11 + 2 + 6);
  });

  it.each([2, 3])('finds a body whose process died before call %i', async (call) => {
    let calls = 0;
    const store = createMemoryStore((operation) => {
      if (operation === 'create' && ++calls === call) throw new Error('killed');
    });
    await expect(createQuarantine(store).keep(request('job1'), Buffer.from('{'))).rejects.toThrow('killed');
    expect(leftOf(store, 'job1')).toHaveLength(call - 1);
    await erase(store, 'job1');
    expect(leftOf(store, 'job1')).toEqual([]);
  });

  it.each([1, 2, 3, 4])('finds what an erasure left that died before delete %i', async (last) => {
    let deletes = 0;
    const store = createMemoryStore((operation) => {
      if (operation === 'delete' && ++deletes === last) throw new Error('killed');
    });
    await createQuarantine(store).keep(request('job1'), Buffer.from('{'));
    await erase(store, 'job1').catch(() => undefined);
    await erase(store, 'job1');
    expect(leftOf(store, 'job1')).toEqual([]);
  });

  it('leaves no body that a second erasure misses, in whatever order the calls of both come', async () => {
    for (const turns of interleavings({ K: 4, E: 8 })) {
      const memory = createMemoryStore();
      const keeping = createQuarantine(turns.over('K', memory))
        .keep(request('job1'), Buffer.from('{'))
        .finally(() => turns.leave('K'));
      const { list, replace } = turns.over('E', memory);
      const erasing = erase({ ...memory, list, replace }, 'job1').finally(() => turns.leave('E'));
      await Promise.all([keeping, erasing]);
      await erase(memory, 'job1');
      expect([turns.order, leftOf(memory, 'job1')]).toEqual([turns.order, []]);
    }
  });
});
