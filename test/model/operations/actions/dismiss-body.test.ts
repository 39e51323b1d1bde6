import { describe, expect, it } from '@jest/globals';
import { ulid } from 'ulid';
import { ERASURE_LOG, erasureKey } from '../../../../src/archive/layout.js';
import { createQuarantine } from '../../../../src/archive/quarantine/quarantine.js';
import { createQuarantineStore } from '../../../../src/archive/quarantine/quarantine-store.js';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { Problem } from '../../../../src/domain/problem.js';
import { dismissBody } from '../../../../src/operations/actions/dismiss-body.js';
import { eraseJob } from '../../../../src/operations/actions/erase/erase-job.js';
import { interleavings, type Turns } from '../../../support/http/turns.js';
import { quarantinedRequest } from '../../../support/quarantined-request.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';

const AUDIT = { actor: 'tester', reason: 'a test call' };

async function quarantined(): Promise<{ store: MemoryStore; id: string }> {
  const store = createMemoryStore();
  const id = ulid();
  await createQuarantine(store).keep(quarantinedRequest({ deliveryId: id }), Buffer.from('x'));
  return { store, id };
}

function ledger() {
  const lines: LedgerLine[] = [];
  return { lines, append: async (line: LedgerLine) => void lines.push(line) };
}

describe('dismissing a body', () => {
  it('marks it beside the body, with who and why, as content of its job', async () => {
    const { store, id } = await quarantined();
    const { lines, append } = ledger();
    const mark = await dismissBody(
      { quarantine: createQuarantineStore(store), ledger: { append } },
      id,
      AUDIT,
    );
    expect(lines).toMatchObject([
      { deliveryId: mark.deliveryId, outcome: 'dismissed', jobId: 'job1', ...AUDIT },
    ]);
    const { headers } = store.objects.get(`quarantine/${id}/settled.json`) ?? {};
    expect(headers).toMatchObject({
      metadata: { 'job-id': 'job1' },
      content: { kind: 'quarantine', source: 'default' },
    });
    expect(store.objects.has(`quarantine/${id}/body`)).toBe(true);
  });

  it('leaves it waiting when the ledger cannot be written, so that it can be repeated', async () => {
    const { store, id } = await quarantined();
    const quarantine = createQuarantineStore(store);
    const broken = { append: () => Promise.reject(new Error('full')) };
    await expect(dismissBody({ quarantine, ledger: broken }, id, AUDIT)).rejects.toThrow('full');
    expect(await quarantine.stateOf(id)).toBe('waiting');
    const { lines, append } = ledger();
    await dismissBody({ quarantine, ledger: { append } }, id, AUDIT);
    expect(lines).toHaveLength(1);
  });

  async function play(turns: Turns): Promise<{ keys: string[]; answer: string }> {
    const { store: memory, id } = await quarantined();
    const dismissing = turns.over('D', memory);
    const dismissal = dismissBody(
      { quarantine: createQuarantineStore(dismissing), ledger: ledger() },
      id,
      AUDIT,
    ).finally(() => turns.leave('D'));
    const { replace, list, folders } = turns.over('E', memory);
    const erasing = { ...memory, replace, list, folders };
    const erasure = eraseJob(
      { store: erasing, keyPrefixes: [''], sleep: async () => {}, ledger: ledger() },
      'job1',
      AUDIT,
    ).finally(() => turns.leave('E'));
    const [answer] = await Promise.all([
      dismissal.then(
        ({ by }) => by,
        (error: unknown) => (error instanceof Problem ? error.code : String(error)),
      ),
      erasure,
    ]);
    const keys = [...memory.objects.keys()].filter((key) => !key.startsWith(ERASURE_LOG)).toSorted();
    return { keys, answer };
  }

  it('of a job that is being erased leaves nothing, in whatever order their calls come', async () => {
    const answers = new Set<string>();
    for (const turns of interleavings({ D: 4, E: 8 })) {
      const { keys, answer } = await play(turns);
      expect([turns.order, keys]).toEqual([turns.order, [erasureKey('job1')]]);
      answers.add(answer);
    }
    expect([...answers].sort()).toEqual(['dismissed', 'not-found']);
  });
});
