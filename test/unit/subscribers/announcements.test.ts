import { describe, expect, it } from '@jest/globals';
import { replaceEndRecord } from '../../../src/archive/end-record.js';
import {
  type ArtefactFacts,
  artefactMetadata,
  type ItemFacts,
} from '../../../src/domain/artefact-metadata.js';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { newDeliveryId } from '../../../src/ledger/ledger-line.js';
import { createAnnouncements, recreateEvent } from '../../../src/subscribers/announcements.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { createMemoryStore } from '../../support/store/memory-store.js';

const at = '2026-03-04T05:06:07.089Z';
const failed = { jobId: 'j1', status: 'error', outcome: 'noted' } as const;
const line = (fields: object) => ledgerLine({ ...failed, deliveryId: newDeliveryId(), ...fields });

describe('the failure of a job that recovery has recorded', () => {
  async function announcements(deliveryId: string | null, recorded = true) {
    const store = createMemoryStore();
    await replaceEndRecord(store, 'j1', 'default', { deliveryId, recorded, at });
    return createAnnouncements(store, 0);
  }

  it('is announced by the line of recovery, and not again by a callback that comes later', async () => {
    const recovered = line({ origin: 'recovery' });
    const { of } = await announcements(recovered.deliveryId);
    expect(await of(recovered)).toMatchObject([{ type: 'transcript-receiver.job.failed.v1' }]);
    expect(await of(line({ origin: 'callback' }))).toEqual([]);
  });

  it('is announced again with what a callback stores that comes later', async () => {
    const { of } = await announcements(newDeliveryId());
    const items = [
      { kind: 'jobinfo', key: 'jobs/j1/jobinfo.json', size: 2, sha256: 'a', outcome: 'created' },
    ];
    const [event] = await of(line({ outcome: 'stored', items }));
    expect(event).toMatchObject({
      type: 'transcript-receiver.job.failed.v1',
      data: { items: [{ kind: 'jobinfo' }] },
    });
  });

  it('does not hide the results of a callback that comes later', async () => {
    const { of } = await announcements(newDeliveryId());
    const items = [{ kind: 'data', key: 'jobs/j1/data', size: 2, sha256: 'a', outcome: 'created' }];
    const [event] = await of(line({ status: 'success', outcome: 'stored', items }));
    expect(event?.type).toBe('transcript-receiver.job.stored.v1');
  });

  it.each([
    ['while recovery has not written its line', newDeliveryId(), false],
    ['where the callback itself was found', null, true],
  ])('is announced by the callback %s', async (_when, deliveryId, recorded) => {
    const { of } = await announcements(deliveryId, recorded);
    expect(await of(line({ origin: 'callback' }))).toMatchObject([
      { type: 'transcript-receiver.job.failed.v1' },
    ]);
  });

  it('is announced for another source', async () => {
    const { of } = await announcements(newDeliveryId());
    expect(await of(line({ source: 'legal' }))).toHaveLength(1);
  });
});

describe('a repetition of a delivery', () => {
  const context = { customer: 'acme' };
  const items = [
    { kind: 'data', key: 'jobs/j1/data', size: 2, sha256: 'a', outcome: 'created' },
    { kind: 'jobinfo', key: 'jobs/j1/jobinfo.json', size: 3, sha256: 'b', outcome: 'created' },
  ] as const;
  const stored = line({
    status: 'success',
    outcome: 'stored',
    region: 'eu1',
    receivedAt: at,
    items,
    context,
  });
  const repetition = () => {
    const repeated = items.map((item) => ({ ...item, outcome: 'identical' as const }));
    // It differs from the delivery in all that artefacts do not keep: an event that had some of that would have two contents.
    return line({
      status: 'success',
      outcome: 'duplicate',
      region: 'us1',
      items: repeated,
      context,
      receivedAt: '2026-03-05T01:02:03.004Z',
      clientIp: '40.74.41.92',
      method: 'PUT',
      credential: 'secondary',
      bytes: 99,
      durationMs: 345,
      reason: 'again',
      actor: 'anna',
      shape: { contentType: null, framing: 'chunked' },
    });
  };

  /** The store of artefacts as deliveries wrote them. */
  async function storeOf(...creators: readonly LedgerLine[]) {
    let now = Date.parse(at);
    const store = createMemoryStore(undefined, () => now);
    for (const creator of creators)
      for (const { key, kind } of creator.items) {
        const facts = { ...creator, jobId: 'j1', source: 'default', region: 'eu1', context };
        const metadata = artefactMetadata(facts as ArtefactFacts, { kind: kind as ItemFacts['kind'] });
        await store.create(key, Buffer.from('{}'), { contentType: 'text/plain', metadata });
        now += 1000;
      }
    return store;
  }

  it('announces nothing of a delivery whose line the ledger has, and asks once', async () => {
    const store = await storeOf(stored);
    const asked: string[] = [];
    const isRecorded = async ({ deliveryId }: LedgerLine) => asked.push(deliveryId) > 0;
    const { of } = createAnnouncements(store, 0, isRecorded);
    const again = repetition();
    // Of a notification that asks for fewer contents.
    expect(await of({ ...again, items: again.items.slice(0, 1) })).toEqual([]);
    expect(await of(again)).toEqual([]);
    expect(asked).toEqual([stored.deliveryId]);
    expect(await of(stored)).toHaveLength(1);
  });

  it('announces it by its own id and content, whichever is read first, and whatever a sender remembers', async () => {
    const store = await storeOf(stored);
    const [own] = await createAnnouncements(store, 0).of(stored);
    for (let start = 0; start < 2; start += 1) {
      const { of } = createAnnouncements(store, 0);
      const again = repetition();
      expect(await of(again)).toEqual([own]);
      expect(await of(repetition())).toEqual([]);
      expect(await recreateEvent(store, again, stored.deliveryId)).toEqual(own);
    }
  });

  it.each([
    ['released', 'replay', 'stored'],
    ['recovered', 'replay', 'stored'],
    ['recovered', 'recovery', 'recovered'],
    ['failed', 'recovery', 'recovered'],
  ] as const)(
    'announces what was %s with the origin %s as its own line does',
    async (outcome, origin, said) => {
      const act = line({ ...stored, outcome, origin });
      const store = await storeOf(act);
      const own = await createAnnouncements(store, 0).of(act);
      expect(own).toMatchObject([{ id: act.deliveryId, data: { origin, outcome: said } }]);
      expect(await createAnnouncements(store, 0).of(repetition())).toEqual(own);
    },
  );

  it('announces each of the deliveries whose artefacts it repeats: the second found what the first had stored', async () => {
    const [data, jobinfo] = items;
    // The clock of the second one's replica is behind.
    const [later, sooner] = [newDeliveryId(), newDeliveryId()].sort().reverse();
    const first = line({ ...stored, deliveryId: later, items: [data] });
    const found = [{ ...data, outcome: 'identical' }, jobinfo];
    const second = line({ ...stored, deliveryId: sooner, items: found });
    const store = await storeOf(first, second);
    const { of } = createAnnouncements(store, 0);
    const own = (
      await Promise.all([first, second].map((each) => createAnnouncements(store, 0).of(each)))
    ).flat();
    expect(await of(repetition())).toEqual(own);
  });
});
