import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ID_BYTES } from '../../../src/recovery/settled/settled-ids.js';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import type { StoreUnderTest } from '../../contract/object-store.js';
import { runCli } from '../../support/processes/run-cli.js';
import type { S3StandIn } from '../../support/store/s3-stand-in.js';
import { openStandInPlace, PREFIX } from '../../support/store/stand-in-store.js';
import { storeSettings } from '../../support/store/store-settings.js';

/** Three pages of the job list, in at least four seconds: a slow job of one page holds up the record while the next is fetched. */
const JOBS = 250;
const PATIENCE = 120_000;

let place: StoreUnderTest & { readonly standIn: S3StandIn };
let simulator: Simulator;

beforeEach(async () => {
  place = await openStandInPlace();
  simulator = await createSimulator({ regions: { eu1: 0 }, timeScale: 0.001 });
  simulator.faults.add({ kind: 'drop' });
});

afterEach(async () => {
  await simulator.close();
  await place.dispose();
});

function reconcile(maxRequestsPerSecond: number, onStart?: (kill: (signal: NodeJS.Signals) => void) => void) {
  const config = {
    store: storeSettings(place.options),
    speech: {
      apiKey: simulator.apiKey,
      regions: { eu1: { batchUrl: simulator.batchUrls.eu1 } },
      maxRequestsPerSecond,
    },
    recovery: { grace: '0s' },
  };
  const env = { NODE_CONFIG: JSON.stringify(config), NODE_NO_WARNINGS: '1' };
  return runCli(['reconcile', '--json'], env, undefined, onStart);
}

/** The number of jobs that runs have recorded as settled. */
function recorded(): number {
  const bytes = [...place.standIn.state.objects]
    .filter(([key]) => key.startsWith(`${PREFIX}.settled/`) && key.endsWith('.ids'))
    .reduce((sum, [, { body }]) => sum + body.length, 0);
  return bytes / ID_BYTES;
}

function artefacts(): string[] {
  return [...place.standIn.state.objects.keys()].filter((key) => key.startsWith(`${PREFIX}jobs/`));
}

describe('a run that was killed', () => {
  it(
    'is continued by the next one, which does not look at what was settled',
    async () => {
      const jobs = await Promise.all(
        Array.from({ length: JOBS }, async (_, n) => {
          const { id, notified } = simulator.submit({
            words: 20,
            createdAt: Date.now() - n * 1000,
            config: {
              type: 'transcription',
              notification_config: [{ url: 'http://127.0.0.1:9/callbacks/default' }],
            },
          });
          await notified;
          return id;
        }),
      );
      // On a busy machine a slow job of the first page can hold up the record until all others are settled.
      const fault = {
        kind: 'answer',
        operation: 'transcript',
        status: 503,
        jobId: jobs.at(-1) ?? '',
      } as const;
      const unavailable = simulator.faults.add(fault);
      let kill = (_signal: NodeJS.Signals) => {};
      // At its first request after a record: on a busy machine a kill from outside can come after the end.
      place.standIn.misbehave = () => {
        if (recorded() > 0) kill('SIGKILL');
        return null;
      };
      expect((await reconcile(60, (given) => (kill = given))).code).toBeNull();
      place.standIn.misbehave = () => null;
      simulator.faults.remove(unavailable);
      const settled = recorded();
      expect(settled).toBeLessThan(JOBS);

      const before = place.standIn.requests.length;
      const { code, stdout } = await reconcile(1000);
      expect(code).toBe(0);
      const looked = place.standIn.requests
        .slice(before)
        .filter(({ operation, key }) => operation === 'HeadObject' && key.includes('jobs/'))
        .map(({ key }) => key);
      expect(new Set(looked).size).toBe(JOBS - settled);
      const { outcomes, faults } = JSON.parse(stdout);
      expect([outcomes.matched + outcomes.recovered, faults]).toEqual([JOBS, []]);
      expect(artefacts().sort()).toEqual(jobs.map((id) => `${PREFIX}jobs/${id}/transcript.json`).sort());
      expect(recorded()).toBe(JOBS);
    },
    PATIENCE,
  );
});
