import { describe, expect, it } from '@jest/globals';
import { replaceEndRecord } from '../../../src/archive/end-record.js';
import { newDeliveryId } from '../../../src/ledger/ledger-line.js';
import { createAnnouncements } from '../../../src/subscribers/announcements.js';
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
    expect((await of(recovered))?.type).toBe('transcript-receiver.job.failed.v1');
    expect(await of(line({ origin: 'callback' }))).toBeNull();
  });

  it('is announced again with what a callback stores that comes later', async () => {
    const { of } = await announcements(newDeliveryId());
    const items = [
      { kind: 'jobinfo', key: 'jobs/j1/jobinfo.json', size: 2, sha256: 'a', outcome: 'created' },
    ];
    const event = await of(line({ outcome: 'stored', items }));
    expect(event).toMatchObject({
      type: 'transcript-receiver.job.failed.v1',
      data: { items: [{ kind: 'jobinfo' }] },
    });
  });

  it('does not hide the results of a callback that comes later', async () => {
    const { of } = await announcements(newDeliveryId());
    const items = [{ kind: 'data', key: 'jobs/j1/data', size: 2, sha256: 'a', outcome: 'created' }];
    const event = await of(line({ status: 'success', outcome: 'stored', items }));
    expect(event?.type).toBe('transcript-receiver.job.stored.v1');
  });

  it.each([
    ['while recovery has not written its line', newDeliveryId(), false],
    ['where the callback itself was found', null, true],
  ])('is announced by the callback %s', async (_when, deliveryId, recorded) => {
    const { of } = await announcements(deliveryId, recorded);
    expect((await of(line({ origin: 'callback' })))?.type).toBe('transcript-receiver.job.failed.v1');
  });

  it('is announced for another source', async () => {
    const { of } = await announcements(newDeliveryId());
    expect(await of(line({ source: 'legal' }))).not.toBeNull();
  });
});
