import { describe, expect, it } from '@jest/globals';
import { ulid } from 'ulid';
import { ERASURE_LOG, erasureKey } from '../../../../../src/archive/layout.js';
import { createQuarantine } from '../../../../../src/archive/quarantine/quarantine.js';
import { createQuarantineStore } from '../../../../../src/archive/quarantine/quarantine-store.js';
import type { LedgerLine } from '../../../../../src/domain/delivery.js';
import { Problem } from '../../../../../src/domain/problem.js';
import { eraseJob } from '../../../../../src/operations/actions/erase/erase-job.js';
import { releaseBody } from '../../../../../src/operations/actions/release-body.js';
import { keepDeadEvent } from '../../../../../src/subscribers/dead/dead-events.js';
import { interleavings, type Turns } from '../../../../support/http/turns.js';
import { EMPTY_INDEX } from '../../../../support/ledger/empty-index.js';
import { deadEventOf } from '../../../../support/outbox/subscribed.js';
import { archiveOver } from '../../../../support/store/archive-fixture.js';
import { createMemoryStore, type MemoryStore } from '../../../../support/store/memory-store.js';
import { partialListings } from '../../../../support/store/partial-listings.js';

const ORDER = { actor: 'tester', reason: null };

/** Without the log of erasures. */
function keysOf({ objects }: Pick<MemoryStore, 'objects'>): string[] {
  return [...objects.keys()].filter((key) => !key.startsWith(ERASURE_LOG)).toSorted();
}

function ledger() {
  const lines: LedgerLine[] = [];
  return { lines, append: async (line: LedgerLine) => void lines.push(line) };
}

describe('erasing a job', () => {
  it('removes its dead events, and no others', async () => {
    const store = createMemoryStore();
    const [own, other] = ['j1', 'j2'].map((jobId) => deadEventOf(jobId));
    if (!own || !other) throw new Error('no events');
    await keepDeadEvent(store, own);
    await keepDeadEvent(store, other);
    await eraseJob({ store, keyPrefixes: [''], sleep: async () => {}, ledger: ledger() }, 'j1', ORDER);
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
    const { lines, append } = ledger();
    const result = await eraseJob(
      { store, keyPrefixes: [''], sleep: async () => {}, ledger: { append } },
      'j1',
      ORDER,
    );
    expect(keysOf(store)).toEqual([erasureKey('j1'), 'jobs/j10/transcript.json']);
    expect(result.erased).toMatchObject({ artefacts: 3, conflicts: 0, quarantined: 0, bytes: 3 });
    expect(lines).toEqual([expect.objectContaining({ outcome: 'erased', jobId: 'j1', bytes: 3 })]);
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
    const { lines, append } = ledger();
    const parts = { store, keyPrefixes: [''], sleep: async () => {}, ledger: { append } };
    await expect(eraseJob(parts, 'j1', ORDER)).rejects.toThrow('is not whole');
    expect(lines).toEqual([]);
    isPartial = false;
    expect(await eraseJob(parts, 'j1', ORDER)).toMatchObject({ complete: true });
    expect(keysOf(memory)).toEqual([erasureKey('j1')]);
  });

  it('does not go on for ever against a writer that never stops, and does not claim to be done', async () => {
    let written = 0;
    const store = createMemoryStore((operation) => {
      if (operation === 'delete') store.put(`jobs/j1/attachments/${++written}`, 'x');
    });
    store.put('jobs/j1/data', 'x');
    const { lines, append } = ledger();
    const erasing = eraseJob(
      { store, keyPrefixes: [''], sleep: async () => {}, ledger: { append } },
      'j1',
      ORDER,
    );
    await expect(erasing).rejects.toThrow(/still being written to/);
    expect(lines).toEqual([]);
  });
});

describe('erasing a job whose quarantined body is being released', () => {
  const BODY = '{"format":"2.9","job":{"id":"job1"},"metadata":{},"results":[]}';
  const SOURCE = { contents: ['transcript'], context: [], maxBytes: 1_000_000, keyPrefix: '' };

  async function play(turns: Turns): Promise<{ keys: string[]; answer: string }> {
    const memory = { ...createMemoryStore(), partSize: 1024 };
    const deliveryId = ulid();
    const request = {
      deliveryId,
      receivedAt: '2026-01-02T03:04:05.678Z',
      source: 'default',
      region: null,
      clientIp: null,
      method: 'POST',
      jobId: 'job1',
      status: 'success',
      query: 'id=job1&status=success',
      headers: { 'content-type': 'application/json' },
      reason: 'json-invalid',
      detail: 'It was broken.',
    };
    await createQuarantine(memory).keep(request, Buffer.from(BODY));
    const releasing = turns.over('R', memory);
    const release = releaseBody(
      {
        quarantine: createQuarantineStore(releasing),
        view: EMPTY_INDEX,
        sources: new Map([['default', SOURCE]]),
        archive: archiveOver(releasing).archive,
        ledger: ledger(),
      },
      deliveryId,
      ORDER,
    ).finally(() => turns.leave('R'));
    // What an erasure has listed it deletes at once here: only its mark and its looks take turns.
    const { replace, list, folders } = turns.over('E', memory);
    const erasing = { ...memory, replace, list, folders };
    const erasure = eraseJob(
      { store: erasing, keyPrefixes: [''], sleep: async () => {}, ledger: ledger() },
      'job1',
      ORDER,
    ).finally(() => turns.leave('E'));
    const [released] = await Promise.all([
      release.then(
        ({ outcome }) => outcome,
        (error: unknown) => (error instanceof Problem ? error.code : String(error)),
      ),
      erasure,
    ]);
    return { keys: keysOf(memory), answer: released };
  }

  it('leaves nothing of it, in whatever order their calls come', async () => {
    const answers = new Set<string>();
    for (const turns of interleavings({ R: 6, E: 8 })) {
      const { keys, answer } = await play(turns);
      expect([turns.order, keys]).toEqual([turns.order, [erasureKey('job1')]]);
      answers.add(answer);
    }
    expect([...answers].sort()).toEqual(['not-found', 'stored']);
  });
});

describe('erasing a job of which the quarantine holds bodies', () => {
  const request = (jobId: string) => ({
    deliveryId: ulid(),
    receivedAt: '2026-01-02T03:04:05.678Z',
    source: 'default',
    region: null,
    clientIp: null,
    method: 'POST',
    jobId,
    status: 'success',
    query: '',
    headers: {},
    reason: 'json-invalid',
    detail: '',
  });

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
    const { erased } = await eraseJob(
      { store, keyPrefixes: [''], sleep: async () => {}, ledger: ledger() },
      'job1',
      ORDER,
    );
    expect(erased).toMatchObject({ quarantined: 3, bytes: 3 });
    expect(leftOf(store, 'job1')).toEqual([]);
    expect(leftOf(store, 'other7')).toHaveLength(3);
    // Two rounds of lists, a list for each body in each round, a delete of each body, its request and its index entry; the
    // marks, uploads and the index itself; in each round a list of dead events. At the end the list shows the mark, and no artefact is there.
    expect(store.calls.length - before).toBeLessThanOrEqual(2 * (3 + 3) + 3 * 3 + 11 + 2 + 6);
  });

  it.each([2, 3])('finds a body whose process died before call %i', async (call) => {
    let calls = 0;
    const store = createMemoryStore((operation) => {
      if (operation === 'create' && ++calls === call) throw new Error('killed');
    });
    await expect(createQuarantine(store).keep(request('job1'), Buffer.from('{'))).rejects.toThrow('killed');
    expect(leftOf(store, 'job1')).toHaveLength(call - 1);
    await eraseJob({ store, keyPrefixes: [''], sleep: async () => {}, ledger: ledger() }, 'job1', ORDER);
    expect(leftOf(store, 'job1')).toEqual([]);
  });

  it.each([1, 2, 3, 4])('finds what an erasure left that died before delete %i', async (last) => {
    let deletes = 0;
    const store = createMemoryStore((operation) => {
      if (operation === 'delete' && ++deletes === last) throw new Error('killed');
    });
    await createQuarantine(store).keep(request('job1'), Buffer.from('{'));
    const parts = { store, keyPrefixes: [''], sleep: async () => {}, ledger: ledger() };
    await eraseJob(parts, 'job1', ORDER).catch(() => undefined);
    await eraseJob(parts, 'job1', ORDER);
    expect(leftOf(store, 'job1')).toEqual([]);
  });

  it('leaves no body that a second erasure misses, in whatever order the calls of both come', async () => {
    for (const turns of interleavings({ K: 4, E: 8 })) {
      const memory = createMemoryStore();
      const keeping = createQuarantine(turns.over('K', memory))
        .keep(request('job1'), Buffer.from('{'))
        .finally(() => turns.leave('K'));
      const { list, replace } = turns.over('E', memory);
      const parts = {
        store: { ...memory, list, replace },
        keyPrefixes: [''],
        sleep: async () => {},
        ledger: ledger(),
      };
      await Promise.all([keeping, eraseJob(parts, 'job1', ORDER).finally(() => turns.leave('E'))]);
      await eraseJob(
        { store: memory, keyPrefixes: [''], sleep: async () => {}, ledger: ledger() },
        'job1',
        ORDER,
      );
      expect([turns.order, leftOf(memory, 'job1')]).toEqual([turns.order, []]);
    }
  });
});
