import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import { ledgerOf, visibleKeys } from '../../support/ledger/ledger-of.js';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { until } from '../../support/until.js';

const HOUR = 3_600_000;

let simulator: Simulator;
let service: RunningService;

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

describe('recovery on an interval', () => {
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
    expect(await metric('transcript_receiver_recovery_oldest_unrecovered_seconds')).toBe(0);
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
