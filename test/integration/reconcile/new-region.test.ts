import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import { ledgerOf } from '../../support/ledger/ledger-of.js';
import { adminApi } from '../../support/processes/admin-api.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { until } from '../../support/until.js';

/** A region that no release knows, from two settings. */
const REGION = 'eu3';

let simulator: Simulator;
let service: RunningService;

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
    (await ledgerOf(service.folder)).find(({ jobId, outcome }) => jobId === lost && outcome === 'recovered');
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
