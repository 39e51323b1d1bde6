import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { adminApi } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';
import { until } from '../../support/until.js';

const SCOPED = 'a-token-of-one-source-only';

let lost: LostJobs;
let service: RunningService;

beforeEach(async () => {
  lost = await lostJobs();
});

afterEach(async () => {
  await service.stop();
  await lost.simulator.close();
});

/** As where a CronJob reconciles: no run begins by itself. */
async function start(settings: Record<string, unknown>) {
  service = await startService({
    ...settings,
    recovery: { interval: 'off', grace: '1ms' },
    sources: { default: {} },
    admin: {
      tokens: { anna: { token: SCOPED, may: ['view', 'repair'], sources: ['default'] } },
    },
  });
  return adminApi(service);
}

const acts = async () =>
  (await ledgerOf(service.folder))
    .filter(({ outcome }) => outcome === 'reconcile-started')
    .map(({ origin, actor, jobId, reason }) => ({ origin, actor, jobId, reason }));

describe('POST /reconcile', () => {
  it('begins a run that recovers lost jobs, shows its progress and result, and is on record', async () => {
    const api = await start(lost.settings);
    expect((await api.get('/reconcile').expect(200)).body).toMatchObject({ running: null, last: null });
    const id = await lost.lose();
    const begun = await api.post('/reconcile').send({ full: true, reason: 'after the outage' }).expect(202);
    expect(begun.body.running).toMatchObject({ actor: 'tester', startedAt: expect.any(String) });
    await until(async () => (await api.get('/reconcile')).body.running === null);
    const { last } = (await api.get('/reconcile').expect(200)).body;
    expect(last).toMatchObject({ actor: 'tester', outcomes: { recovered: 1 }, faults: [] });
    expect(await acts()).toEqual([
      { origin: 'replay', actor: 'tester', jobId: null, reason: 'after the outage' },
    ]);
    expect(await visibleKeys(service.folder, `jobs/${id}/`)).toContain(`jobs/${id}/transcript.json`);
  });

  it('says what to set where the service cannot be asked, and records nothing', async () => {
    const api = await start({});
    const { body } = await api.post('/reconcile').send({}).expect(409);
    expect(body.detail).toContain('set speech.apiKey and speech.regions.<region>.batchUrl');
    expect(await acts()).toEqual([]);
  });

  it('is not for a token of some sources: a run covers all', async () => {
    await start(lost.settings);
    const scoped = adminApi(service, SCOPED);
    await scoped.get('/reconcile').expect(403);
    expect((await scoped.post('/reconcile').send({}).expect(403)).body.code).toBe('scope-exceeded');
    expect(await acts()).toEqual([]);
  });
});
