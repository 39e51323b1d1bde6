import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ledgerPartition } from '../../../src/ledger/hours.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { visibleKeys } from '../../support/ledger/ledger-of.js';
import { type AdminApi, adminApi, sendCallback, sendForm } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { until } from '../../support/until.js';

let service: RunningService;
let api: AdminApi;

beforeAll(async () => {
  service = await startService({ sources: { default: { maxBytes: '20MiB' } } });
  api = adminApi(service);
});

afterAll(() => service.stop());

const HEAD = '--b\r\nContent-Disposition: form-data; name="data"; filename="a.wav"\r\n\r\n';

function upload(id: string) {
  const outgoing = request(`${service.adminUrl}/admin/api/jobs/${id}/artefacts`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.adminToken}`,
      'content-type': 'multipart/form-data; boundary=b',
    },
  });
  outgoing.on('error', () => {});
  return outgoing;
}

describe('an import', () => {
  it('streams more than the memory budget, byte for byte', async () => {
    const media = randomBytes(5 * 1024 * 1024);
    const form = new FormData();
    form.append('data', new Blob([media]), 'a.wav');
    const { status, body } = await sendForm(api.post('/jobs/large/artefacts'), form);
    expect(status).toBe(200);
    expect(body.items).toEqual([expect.objectContaining({ kind: 'data', size: media.length })]);
    const whole = await api.get('/jobs/large/artefacts/data');
    expect(media.equals(whole.body)).toBe(true);
    const tail = await api.get('/jobs/large/artefacts/data').set({ range: 'bytes=-100000' });
    expect(media.subarray(-100_000).equals(tail.body)).toBe(true);
    expect((await api.get('/jobs/large')).body.artefacts[0].sha256).toBe(body.items[0].sha256);
  });

  it('leaves nothing in the store when its sender disconnects', async () => {
    const outgoing = upload('gone');
    outgoing.write(HEAD);
    outgoing.write(randomBytes(300_000));
    await until(async () => (await api.get('/health')).body.budget.used > 0);
    outgoing.destroy();
    await until(async () => (await api.get('/health')).body.budget.used === 0);
    expect(await visibleKeys(service.folder, 'jobs/gone/')).toEqual([]);
  });
});

describe('an unavailable store', () => {
  it('is reported as 503, and health still responds', async () => {
    await sendCallback(service, 'id=s1&status=success', 'x', { 'content-type': 'text/plain' });
    expect((await api.get('/jobs/s1')).status).toBe(200);
    const aside = `${service.folder}-aside`;
    await rename(service.folder, aside);
    await writeFile(service.folder, 'no folder any more');
    try {
      const form = new FormData();
      form.append('data', new Blob(['x']), 'a.wav');
      const answer = await sendForm(api.post('/jobs/s2/artefacts'), form);
      expect([answer.status, answer.body.code]).toEqual([503, 'store-unavailable']);
      expect(answer.headers['retry-after']).toBe('5');
      expect((await api.get('/health')).status).toBe(200);
    } finally {
      await rm(service.folder);
      await rename(aside, service.folder);
    }
    expect((await api.get('/jobs/s1')).body.artefacts).toHaveLength(1);
  });
});

describe('ledger lines of a newer version', () => {
  it('are reported by the verdict', async () => {
    const receivedAt = new Date().toISOString();
    const folder = `${service.folder}/${ledgerPartition(receivedAt)}`;
    await mkdir(folder, { recursive: true });
    await writeFile(
      `${folder}newer~00000001.ndjson`,
      `${JSON.stringify({ ...ledgerLine({ receivedAt }), v: 2 })}\n`,
    );

    await until(async () => (await api.get('/health')).body.ledger.unreadable.count === 1);
    const { verdict } = (await api.get('/health')).body;
    expect(verdict.issues).toContainEqual(expect.objectContaining({ code: 'ledger-lines-unreadable' }));
  });
});
