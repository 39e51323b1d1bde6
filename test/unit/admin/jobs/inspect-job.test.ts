import { describe, expect, it } from '@jest/globals';
import { encodeTime } from 'ulid';
import { type InspectParts, inspectJob, isKnownHere } from '../../../../src/admin/jobs/inspect-job.js';
import { quarantineFolder } from '../../../../src/archive/layout.js';
import { createLedgerView } from '../../../../src/ledger-view/ledger-view.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { putSegment } from '../../../support/ledger/ledger-segments.js';
import { createMemoryStore, type MemoryStore } from '../../../support/store/memory-store.js';

const NOW = '2026-03-20T12:00:00.000Z';
const LONG_AGO = '2026-03-01T05:06:07.089Z';

async function partsOf(store: MemoryStore): Promise<InspectParts> {
  const view = createLedgerView({ store, clock: () => Date.parse(NOW) });
  await view.refresh();
  const records = { regions: [], record: () => Promise.reject(new Error('no region')) };
  return { store, keyPrefixes: [''], view, fresh: async () => {}, records };
}

describe('inspectJob', () => {
  it('shows a job that has only a quarantined body, with its ledger line from before the in-memory window', async () => {
    const store = createMemoryStore();
    const deliveryId = `${encodeTime(Date.parse(LONG_AGO))}0123456789ABCDEF`;
    const line = ledgerLine({ deliveryId, jobId: 'j1', receivedAt: LONG_AGO, outcome: 'quarantined' });
    const headers = { contentType: 'application/octet-stream', metadata: { 'job-id': 'j1' } };
    await store.create(`${quarantineFolder(deliveryId)}body`, Buffer.from('{"broken'), headers);
    await store.create(`${quarantineFolder(deliveryId)}request.json`, Buffer.from('{}'), headers);
    putSegment(store, LONG_AGO, [line]);
    const parts = await partsOf(store);
    expect(await inspectJob(parts, 'j1')).toEqual({
      jobId: 'j1',
      artefacts: [],
      timeline: [line],
      service: null,
    });
    expect(await isKnownHere(parts, 'j1')).toBe(true);
    expect(await inspectJob(parts, 'j2')).toBeNull();
    expect(await isKnownHere(parts, 'j2')).toBe(false);
  });

  it('reads no quarantined body of a job that has artefacts', async () => {
    const store = createMemoryStore();
    store.put('jobs/j1/transcript.json', '{}');
    const parts = await partsOf(store);
    expect(await inspectJob(parts, 'j1')).toMatchObject({ artefacts: [{ kind: 'transcript.json-v2' }] });
    expect(store.calls.filter(({ key }) => key.startsWith('quarantine/'))).toEqual([]);
  });
});
