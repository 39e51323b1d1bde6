import { afterEach, describe, expect, it } from '@jest/globals';
import { refetch } from '../../../../src/recovery/reconcile/fetch/refetch.js';
import { reconcile } from '../../../../src/recovery/reconcile/reconcile.js';
import type { RecoveryReport } from '../../../../src/recovery/reconcile/report/recovery-report.js';
import { type RecoveryFixture, recoveryFixture } from '../../../support/recovery/recovery-fixture.js';

const HOUR = 3_600_000;
const HISTORIES = 24;
const STEPS = 25;
const REGIONS = ['eu1', 'us1'] as const;

let fixture: RecoveryFixture;

afterEach(() => fixture.close());

/** Numbers in [0, 1) that are the same for the same seed. */
function randomFrom(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}

/** One replica's life: jobs whose callbacks are lost, and runs that see all, a part or nothing of them. */
async function live(seed: number): Promise<void> {
  const random = randomFrom(seed);
  const oneOf = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const { simulator, parts, store, lose } = fixture;
  // The service keeps results for seven days of real time.
  let now = Date.now() - 160 * HOUR;
  const jobs = new Map<string, { readonly region: string; readonly createdAt: number }>();
  const running = new Set<string>();
  const fault = (operation: 'list' | 'transcript' | 'record') =>
    simulator.faults.add({
      kind: 'answer',
      operation,
      status: oneOf([401, 500]),
      region: oneOf(REGIONS),
    });
  const isStored = async (id: string) => (await store.head(`jobs/${id}/transcript.json`)) !== null;

  async function run(options: Parameters<typeof reconcile>[1]): Promise<RecoveryReport> {
    return reconcile({ ...parts, clock: () => now }, options);
  }

  /** What such a run says of a region is all there is to say. */
  async function check({ jobs: reported, regions }: RecoveryReport): Promise<void> {
    const named = new Set(reported.map(({ jobId }) => jobId));
    for (const [id, { region }] of jobs) {
      if (!regions.includes(region) || named.has(id) || (await isStored(id))) continue;
      throw new Error(`seed ${seed}: a run passed over ${id}, created ${jobs.get(id)?.createdAt}, at ${now}`);
    }
  }

  for (let step = 0; step < STEPS; step += 1) {
    now += oneOf([0.1, 0.3, 1, 5, 12]) * HOUR;
    for (let n = Math.floor(random() * 4); n > 0; n -= 1) {
      const region = oneOf(REGIONS);
      const createdAt = now - Math.floor(random() * 0.2 * HOUR);
      const id = await lose({}, { region, createdAt });
      jobs.set(id, { region, createdAt });
      if (random() < 0.3) {
        running.add(id);
        simulator.setStatus(id, 'running');
      }
    }
    for (const id of running) {
      if (random() > 0.3) continue;
      running.delete(id);
      simulator.setStatus(id, 'done');
    }
    const broken = random() < 0.3 ? fault(oneOf(['list', 'transcript', 'record'])) : null;
    const kind = oneOf(['plain', 'plain', 'plain', 'since', 'interrupted', 'refetch', 'dry']);
    if (kind === 'plain') await check(await run({}));
    else if (kind === 'since') await check(await run({ since: new Date(now - oneOf([0.1, 3, 60]) * HOUR) }));
    else if (kind === 'refetch')
      for (const jobId of [...jobs.keys()].slice(-2))
        await refetch({ ...parts, clock: () => now }, { jobId });
    else if (kind === 'dry') await run({ dryRun: true });
    else {
      const stop = new AbortController();
      await run({ signal: stop.signal, onJob: () => stop.abort() });
    }
    if (broken !== null) simulator.faults.remove(broken);
    if (now > Date.now() - 2 * HOUR) break;
  }
  for (const id of running) simulator.setStatus(id, 'done');
  await check(await run({}));
  for (const [id, { createdAt }] of jobs)
    if (!(await isStored(id))) throw new Error(`seed ${seed}: ${id} of ${createdAt} was never fetched`);
}

describe('runs over days', () => {
  it.each(Array.from({ length: HISTORIES }, (_, seed) => [seed]))(
    'pass over no job, whatever part of them was cut short or failed: seed %i',
    async (seed) => {
      fixture = await recoveryFixture();
      await live(seed);
      expect(true).toBe(true);
    },
  );
});
