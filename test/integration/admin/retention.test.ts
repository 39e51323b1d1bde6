import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../src/config/config.js';
import { createLedger } from '../../../src/ledger/write/ledger.js';
import type { Job } from '../../../src/operations/answers/jobs.js';
import type { ExpiringStore } from '../../../src/recovery/retention/expired-objects.js';
import { sweepRetention } from '../../../src/recovery/retention/sweep-retention.js';
import { createFileStore } from '../../../src/store/file/file-store.js';
import type { ObjectStore } from '../../../src/store/object-store.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const DAY = 86_400_000;
const AGE = 40 * DAY;
const RETENTION = { retention: { data: '30d', transcript: '2y' } };
const JSON_TYPE = { 'content-type': 'application/json' };
const TRANSCRIPT = JSON.stringify({ format: '2.9', job: { id: 'half' }, metadata: {}, results: [] });

let service: RunningService;
let api: AdminApi;
let store: ObjectStore;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;

/** Stores an artefact as a callback of 40 days ago has left it, with its line. */
async function storeOld(jobId: string, name: string, kind: string, content: string): Promise<void> {
  const receivedAt = new Date(Date.now() - AGE).toISOString();
  const key = `jobs/${jobId}/${name}`;
  const metadata = { 'job-id': jobId, source: 'default', 'received-at': receivedAt, kind };
  await store.create(key, Buffer.from(content), { contentType: 'text/plain', metadata });
  await utimes(join(folder.path, key), new Date(receivedAt), new Date(receivedAt));
  const ledger = createLedger({ store, replica: 'past', clock: () => Date.parse(receivedAt) });
  const item = { kind, key, size: content.length, sha256: '', outcome: 'created' };
  await ledger.append(ledgerLine({ jobId, source: 'default', receivedAt, items: [item as never] }));
  await ledger.close();
}

const job = async (jobId: string): Promise<Job> => (await api.get(`/jobs/${jobId}`)).body as Job;

beforeAll(async () => {
  folder = await temporaryFolder();
  const url = `file:${folder.path}`;
  store = createFileStore({ directory: folder.path, partSize: 64 * 1024, fsync: false });
  await store.begin();
  await storeOld('half', 'transcript.json', 'transcript.json-v2', TRANSCRIPT);
  for (const name of ['half', 'gone', 'late']) await storeOld(name, 'data', 'data', 'recording');
  await storeOld('lost', 'transcript.json', 'transcript.json-v2', TRANSCRIPT);
  await store.delete('jobs/lost/transcript.json');
  // As far as the lines of these jobs: with the default an old line is known by the artefacts of its job alone.
  const ledger = { index: { days: 2 * (AGE / DAY) } };
  service = await startService({ ...RETENTION, ledger, store: { url }, sources: { default: {} } });
  api = adminApi(service);
  const { retention: periods } = parseConfig({ ...RETENTION, sources: { default: {} } });
  const ledgerOfSweep = createLedger({ store, replica: 'sweeper' });
  const parts = { store: store as ExpiringStore, ledger: ledgerOfSweep, periods, clock: Date.now };
  expect(await sweepRetention(parts)).toEqual({
    complete: true,
    kinds: { data: { objects: 3, bytes: 27 } },
    faults: [],
  });
  await ledgerOfSweep.close();
});
afterAll(async () => {
  await service.stop();
  await folder.remove();
});

describe('what expired', () => {
  it('is told apart from what is missing on the page of the job, and in downloads', async () => {
    const { expired, artefacts, timeline } = await job('half');
    expect(artefacts).toMatchObject([{ kind: 'transcript.json-v2' }]);
    expect(expired).toMatchObject([{ kind: 'data', objects: 1, bytes: 9 }]);
    expect(timeline.at(-1)).toMatchObject({ origin: 'retention', outcome: 'expired' });
    const download = await api.get('/jobs/half/artefacts/data');
    expect(download.status).toBe(410);
    expect(download.body).toMatchObject({
      code: 'artefact-expired',
      detail: expect.stringContaining(String(expired[0]?.expiredAt)),
    });
    expect((await api.get('/jobs/half/artefacts/transcript.json')).status).toBe(200);
    // Nothing of these kinds expired.
    for (const path of [
      'half/artefacts/jobinfo.json',
      'lost/artefacts/transcript.json',
      'nobody/artefacts/data',
    ]) {
      expect([path, (await api.get(`/jobs/${path}`)).status]).toEqual([path, 404]);
    }
    expect((await job('lost')).expired).toEqual([]);
  });

  it('is in the lists of deliveries only when it is asked for', async () => {
    const outcomes = async (query: string) =>
      ((await api.get(`/deliveries${query}`)).body.deliveries as { outcome: string }[]).map(
        ({ outcome }) => outcome,
      );
    expect(await outcomes('')).not.toContain('expired');
    expect(await outcomes('?outcome=expired')).toEqual(['expired', 'expired', 'expired']);
    expect(await outcomes('?origin=retention')).toEqual(['expired', 'expired', 'expired']);
  });

  it('is stored like something new when it comes again, and the page says both', async () => {
    const { status, json } = await sendCallback(service, 'id=late&status=success', 'recording', {
      'content-type': 'audio/wav',
    });
    expect([status, json.outcome]).toEqual([200, 'stored']);
    expect(await job('late')).toMatchObject({ artefacts: [{ kind: 'data' }], expired: [{ kind: 'data' }] });
    expect((await api.get('/jobs/late/artefacts/data')).status).toBe(200);
  });

  it('leaves a job that can still be erased, and stays erased then', async () => {
    const erased = await api.delete('/jobs/gone');
    expect(erased.body).toMatchObject({ complete: true, erased: { artefacts: 0 } });
    expect(await job('gone')).toMatchObject({ artefacts: [], expired: [], erasure: { complete: true } });
    const { json } = await sendCallback(service, 'id=gone&status=success', TRANSCRIPT, JSON_TYPE);
    expect(json.outcome).toBe('noted');
  });
});
