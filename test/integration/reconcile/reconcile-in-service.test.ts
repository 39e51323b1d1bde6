import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLedgerView } from '../../../src/index/ledger-view.js';
import { createReconcileReportReader } from '../../../src/operations/health/reconcile-report-reader.js';
import { reconcile } from '../../../src/recovery/reconcile/reconcile.js';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { adminApi } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type LostJobs, lostJobs } from '../../support/recovery/lost-jobs.js';
import { type RecoveryFixture, recoveryFixture } from '../../support/recovery/recovery-fixture.js';
import { until } from '../../support/until.js';

let simulator: Simulator;
let service: RunningService;

describe('health after reconcile', () => {
  let fixture: RecoveryFixture;

  beforeEach(async () => {
    fixture = await recoveryFixture();
  });

  afterEach(() => fixture.close());

  async function verdict() {
    const service = await startService({ store: { url: `file:${fixture.folder}` } });
    try {
      return (await adminApi(service).get('/health')).body.verdict;
    } finally {
      await service.stop();
    }
  }

  it('keeps an issue until a run that saw everything clears it', async () => {
    const { parts, simulator, lose } = fixture;
    await lose({}, { region: 'us1' });
    simulator.setStatus(await lose(), 'expired');
    simulator.setStatus(await lose(), 'expired');
    const missing = { code: 'jobs-failing', params: { jobs: 2, outcomes: { unrecoverable: 2 } } };
    await reconcile(parts);
    expect(await verdict()).toMatchObject({ level: 'failing', issues: [missing] });
    const denied = simulator.faults.add({ kind: 'answer', operation: 'list', status: 401 });
    await reconcile(parts);
    expect(await verdict()).toMatchObject({
      level: 'failing',
      issues: [
        missing,
        {
          code: 'reconcile-incomplete',
          params: { faults: 2, first: expect.stringMatching(/^eu1: .*401/) },
        },
        { code: 'expected-unknown', level: 'unknown' },
      ],
    });
    simulator.faults.remove(denied);
    await reconcile(parts);
    expect((await verdict()).issues).toMatchObject([missing]);
  });

  it('does not take a failure for a missing job because the index is older than the report', async () => {
    const { parts, simulator, lose, store } = fixture;
    const view = createLedgerView({ store });
    view.start();
    await view.untilComplete();
    simulator.setStatus(await lose(), 'expired');
    await reconcile(parts);
    const figures = await createReconcileReportReader(store, view.missedJobs)();
    expect(figures).toMatchObject({ missing: 1, withoutFailure: 0 });
    await view.stop();
  });
});

describe('recovery on an interval', () => {
  const HOUR = 3_600_000;

  beforeEach(async () => {
    simulator = await createSimulator({ regions: { eu1: 0 }, timeScale: 0.001 });
  });

  afterEach(async () => {
    await service.stop();
    await simulator.close();
  });

  async function start(): Promise<void> {
    service = await startService({
      speech: {
        apiKey: simulator.apiKey,
        regions: { eu1: { batchUrl: simulator.batchUrls.eu1 } },
        retries: 0,
      },
      recovery: { interval: '1s', grace: '10m', window: '7d' },
    });
  }

  async function submit(createdAt: number): Promise<string> {
    const { id, notified } = simulator.submit({
      createdAt,
      words: 20,
      config: {
        type: 'transcription',
        notification_config: [{ url: `${service.publicUrl}/callbacks/default`, contents: ['transcript'] }],
      },
    });
    await notified;
    return id;
  }

  function events(name: string) {
    return service.log.filter(({ event }) => event === name);
  }

  async function metric(name: string): Promise<number> {
    const text = await (await fetch(`${service.adminUrl}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
  }

  it('fetches lost jobs while callbacks arrive, and counts them', async () => {
    await start();
    const drop = simulator.faults.add({ kind: 'drop' });
    const lost = await submit(Date.now() - HOUR);
    simulator.faults.remove(drop);
    // Younger than the grace period, so that only its callback brings it.
    const received = await submit(Date.now());
    await until(() => events('recovery').length > 0 && events('reconcile').length > 1);
    expect(events('recovery')).toEqual([
      expect.objectContaining({ jobId: lost, region: 'eu1', outcome: 'recovered' }),
    ]);
    const keys = [lost, received].map((id) => `jobs/${id}/transcript.json`).sort();
    expect(await visibleKeys(service.folder, 'jobs/')).toEqual(keys);
    const origins = Object.fromEntries(
      (await ledgerOf(service.folder)).map((line) => [line.jobId, line.origin]),
    );
    expect(origins).toEqual({ [lost]: 'recovery', [received]: 'callback' });
    const labels = '\\{outcome="recovered",region="eu1"\\}';
    expect(await metric(`transcript_receiver_recovery_jobs_total${labels}`)).toBe(1);
  });

  it('aborts a download in flight when the service stops', async () => {
    await start();
    simulator.faults.add({ kind: 'drop' });
    simulator.submit({
      createdAt: Date.now() - HOUR,
      mediaBytes: 2_000_000_000,
      words: 20,
      config: {
        type: 'transcription',
        notification_config: [{ url: `${service.publicUrl}/callbacks/default`, contents: ['data'] }],
      },
    });
    await until(async () => (await metric('transcript_receiver_memory_budget_used_bytes')) > 0);
    await service.stop();
    expect(events('reconcile').at(-1)).toMatchObject({ faults: [{ reason: 'the run was interrupted' }] });
  });
});

describe('POST /reconcile', () => {
  const SCOPED = 'a-token-of-one-source-only';

  let lost: LostJobs;

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

describe('a region of the configuration', () => {
  /** A region that no release knows, from two settings. */
  const REGION = 'eu3';

  beforeEach(async () => {
    simulator = await createSimulator({ regions: { [REGION]: 0 }, timeScale: 0.001 });
    service = await startService({
      egress: { regions: { [REGION]: ['127.0.0.1/32'] } },
      sources: { default: { allow: [REGION] } },
      speech: {
        apiKey: simulator.apiKey,
        regions: { [REGION]: { batchUrl: simulator.batchUrls[REGION] } },
        retries: 0,
      },
      recovery: { interval: '1s', grace: '1s' },
    });
  });

  afterEach(async () => {
    await service.stop();
    await simulator.close();
  });

  async function submit(): Promise<string> {
    const { id, notified } = simulator.submit({
      region: REGION,
      words: 20,
      // Older than the grace, and within the overlap of runs: a run may end before the job is submitted.
      createdAt: Date.now() - 300_000,
      config: {
        type: 'transcription',
        notification_config: [{ url: `${service.publicUrl}/callbacks/default`, contents: ['transcript'] }],
      },
    });
    await notified;
    return id;
  }

  // Rule: Hosts: batch: `eu1`, `eu2`, `us1`, `us2`, `au1`
  it('admits callbacks, offers itself to filters, and is reconciled and fetched from', async () => {
    const api = adminApi(service);
    const delivered = await submit();
    expect((await ledgerOf(service.folder)).find(({ jobId }) => jobId === delivered)).toMatchObject({
      region: REGION,
      outcome: 'stored',
    });

    simulator.faults.add({ kind: 'drop' });
    const lost = await submit();
    const recovered = async () =>
      (await ledgerOf(service.folder)).find(
        ({ jobId, outcome }) => jobId === lost && outcome === 'recovered',
      );
    await until(async () => (await recovered()) !== undefined);
    expect(await recovered()).toMatchObject({ region: REGION });
    const refetched = await api.post(`/jobs/${lost}/refetch`).send({ region: REGION });
    expect(refetched.body).toMatchObject({ region: REGION, outcome: 'matched' });

    const names = (await api.get('/names')).body;
    expect(names.regions).toEqual(['au1', 'eu1', 'eu2', REGION, 'us1', 'us2']);
    const { deliveries } = (await api.get(`/deliveries?region=${REGION}`)).body;
    expect(deliveries.map(({ jobId }: { jobId: string }) => jobId)).toContain(delivered);
    expect((await api.get(`/jobs/${lost}`)).body.service).toMatchObject({ region: REGION });
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(new RegExp(`deliveries_total\\{.*region="${REGION}".*outcome="stored"`));
  });
});
