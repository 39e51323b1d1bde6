import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { type AdminApi, adminApi, sendCallback } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';

const SECRET = 'correct-horse-battery-staple';
const tokens = {
  admin: 'token-of-the-admin-0123456789',
  desk: { token: 'token-of-the-desk-0123456789', may: ['view', 'read', 'repair'] },
  clinic: { token: 'token-of-the-clinic-0123456789', may: ['view', 'erase'], sources: ['clinic'] },
};

let service: RunningService;
let admin: AdminApi;
let clinic: AdminApi;

beforeAll(async () => {
  const source = (keyPrefix: string) => ({
    ...{ keyPrefix, context: ['customer'] },
    credentials: { main: { headers: [`X-Callback-Token: ${SECRET}`] } },
  });
  service = await startService({
    sources: { clinic: source('clinic/'), court: source('court/') },
    admin: { tokens },
  });
  admin = adminApi(service, tokens.admin);
  clinic = adminApi(service, tokens.clinic.token);
});
afterAll(() => service.stop());

const send = (id: string, source: string, body = '{"format":"2.9"}') =>
  sendCallback(
    service,
    `id=${id}&status=success&customer=acme`,
    body,
    { 'content-type': 'application/json', 'x-callback-token': SECRET },
    source,
  );
const erase = (api: AdminApi, order: object) => api.post('/erasures').send(order);

describe('POST /erasures', () => {
  it('previews jobs, erases those that are known, and then knows what was erased', async () => {
    await send('e1', 'clinic');
    await send('e2', 'clinic', '{"broken');
    const jobs = ['e1', 'e2', 'nobody', 'e1'];
    const preview = await erase(admin, { jobs, dryRun: true }).expect(200);
    const nothing = { objects: 0, bytes: 0, quarantined: 0, erasure: null, protected: null };
    expect(preview.body.jobs).toEqual([
      { ...nothing, jobId: 'e1', state: 'known', objects: 1, bytes: 16 },
      { ...nothing, jobId: 'e2', state: 'known', quarantined: 1, bytes: 8 },
      { ...nothing, jobId: 'nobody', state: 'unknown' },
    ]);
    const { body } = await erase(admin, { jobs, reason: 'request 4711' }).expect(200);
    expect(body.report).toHaveLength(3);
    const record = { complete: true, erasedAt: expect.any(String), actor: 'admin', reason: 'request 4711' };
    for (const [jobId, counted] of [
      ['e1', { artefacts: 1 }],
      ['e2', { quarantined: 1 }],
    ] as const) {
      const erased = expect.objectContaining(counted);
      expect(body.report).toContainEqual(expect.objectContaining({ ...record, jobId, erased }));
    }
    expect(body.report).toContainEqual({ jobId: 'nobody', error: 'nothing is known of it' });
    expect(await visibleKeys(service.folder, 'clinic/')).toEqual([]);
    const lines = (await ledgerOf(service.folder)).filter(({ outcome }) => outcome === 'erased');
    expect(lines.map(({ jobId, actor }) => `${jobId} ${actor}`).sort()).toEqual(['e1 admin', 'e2 admin']);
    expect(lines[0]?.reason).toMatch(/^request 4711 \(/);
    expect(lines.filter(({ context }) => context !== undefined)).toEqual([]);
    const again = await erase(admin, { jobs: ['e1'] }).expect(200);
    const first = body.report.find(({ jobId }: { jobId: string }) => jobId === 'e1');
    expect(again.body.report).toEqual([{ ...record, jobId: 'e1', erasedAt: first.erasedAt }]);
    expect((await ledgerOf(service.folder)).filter(({ outcome }) => outcome === 'erased')).toHaveLength(2);
  });

  it('erases an unknown id only when told to, and never for a token of some sources', async () => {
    const order = { jobs: ['later'], unknown: true };
    const refused = await erase(clinic, order).expect(200);
    expect(refused.body.report).toEqual([{ jobId: 'later', error: 'nothing is known of it' }]);
    const { body } = await erase(admin, order).expect(200);
    expect(body.report).toEqual([expect.objectContaining({ jobId: 'later', complete: true })]);
    expect((await send('later', 'clinic')).json).toMatchObject({ outcome: 'noted' });
  });

  it("leaves other sources' jobs alone, and does not tell of them", async () => {
    await send('mine', 'clinic');
    await send('theirs', 'court');
    await send('both', 'clinic');
    await send('both', 'court');
    const jobs = ['mine', 'theirs', 'both'];
    const preview = await erase(clinic, { jobs, dryRun: true }).expect(200);
    expect(preview.body.jobs).toMatchObject([
      { jobId: 'mine', state: 'known', objects: 1 },
      { jobId: 'theirs', state: 'unknown', objects: 0, bytes: 0 },
      { jobId: 'both', state: 'shared', objects: 0, bytes: 0 },
    ]);
    const { body } = await erase(clinic, { jobs }).expect(200);
    expect(body.report).toContainEqual({ jobId: 'both', error: 'it has results of other sources too' });
    expect(await visibleKeys(service.folder, 'clinic/jobs/')).toEqual([
      expect.stringMatching(/^clinic\/jobs\/both\//),
    ]);
    expect(await visibleKeys(service.folder, 'court/jobs/')).toHaveLength(2);
  });

  it('needs the right, and takes 64 valid ids', async () => {
    const desk = adminApi(service, tokens.desk.token);
    await erase(desk, { jobs: ['mine'], dryRun: true }).expect(403);
    await erase(desk, { jobs: ['mine'] }).expect(403);
    await erase(admin, { jobs: [] }).expect(400);
    await erase(admin, { jobs: ['../x'] }).expect(400);
    await erase(admin, { jobs: Array.from({ length: 65 }, (_, n) => `j${n}`) }).expect(400);
  });
});
