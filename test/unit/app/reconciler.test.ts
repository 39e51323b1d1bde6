import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createReconciler } from '../../../src/app/reconciler.js';
import { createLogger } from '../../../src/observe/logger.js';
import type { RecoveryParts } from '../../../src/recovery/reconcile/recovery-parts.js';
import { createSpeechClients } from '../../../src/speech/speech.js';
import { StoreError } from '../../../src/store/object-store.js';
import { type RecoveryFixture, recoveryFixture } from '../../support/recovery/recovery-fixture.js';
import { until } from '../../support/until.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

let fixture: RecoveryFixture;
let now: number;
/** Whether each run ended without failures. */
let runs: boolean[];
let counted: string[];
let logged: Record<string, unknown>[];

beforeEach(async () => {
  now = Date.now();
  runs = [];
  counted = [];
  logged = [];
  fixture = await recoveryFixture({ parts: { clock: () => now } });
});

afterEach(() => fixture.close());

/** Starts the runs; `finished` is called at the end of each. */
function start(parts: RecoveryParts, random: number, interval: number, finished: () => void) {
  const metrics = {
    checked: (outcome: string, region: string | null) => void counted.push(`${region} ${outcome}`),
    finished(ok: boolean) {
      runs.push(ok);
      finished();
    },
  };
  const destination = { write: (line: string) => void logged.push(JSON.parse(line)) };
  const reconciler = createReconciler(parts, metrics, createLogger({ level: 'info', destination }));
  reconciler.repeat({ interval, random: () => random });
  return reconciler;
}

/** Runs once, and once more after each of the steps. */
async function runAnd(parts: RecoveryParts, ...steps: readonly (() => void)[]): Promise<void> {
  await new Promise<void>((resolve) => {
    const regular = start(parts, 0, 1, () => {
      const step = steps[runs.length - 1];
      if (step === undefined) resolve(regular.stop());
      else step();
    });
  });
}

const refuse = (operation: 'list' | 'transcript', jobId?: string) =>
  fixture.simulator.faults.add({
    kind: 'answer',
    operation,
    status: 500,
    ...(jobId === undefined ? {} : { jobId }),
  });

describe('regular runs', () => {
  it('count and log changes and failures', async () => {
    const { parts, store, simulator, lose } = fixture;
    const [recovered, conflict, young, old] = await Promise.all(
      [1, 1, 1, 140].map((hours) => lose({}, { createdAt: now - hours * HOUR })),
    );
    const headers = { contentType: 'text/plain', metadata: {} };
    const head = async (key: string) => {
      const found = await store.head(key);
      const isFirst = found === null && key.startsWith(`jobs/${conflict}/`);
      if (isFirst) await store.create(key, Buffer.from('other'), headers);
      return found;
    };
    const refusing = [refuse('transcript', young), refuse('transcript', old)];
    await runAnd({ ...parts, store: { ...store, head } }, () => {
      for (const name of refusing) simulator.faults.remove(name);
      counted.push('next run');
    });

    const jobs = counted.slice(0, counted.indexOf('next run'));
    expect(jobs.sort()).toEqual(['eu1 conflict', 'eu1 failed', 'eu1 failed', 'eu1 recovered']);
    expect(runs).toEqual([false, true]);

    const [first, last] = logged.filter(({ event }) => event === 'reconcile');
    expect(first).toMatchObject({
      level: 'warn',
      msg: 'reconciled, not completely',
      outcomes: { failed: 2 },
    });
    expect(last).toMatchObject({ level: 'info', msg: 'reconciled', outcomes: { failed: 0, recovered: 2 } });
    const ofFirst = logged.slice(0, logged.indexOf(first ?? {}));
    const deadline = new Date(now - 140 * HOUR + 7 * DAY).toISOString();
    expect(Object.fromEntries(ofFirst.map((line) => [line.jobId, line]))).toMatchObject({
      [recovered ?? '']: { level: 'info', event: 'recovery', msg: 'recovered', region: 'eu1', items: 1 },
      [conflict ?? '']: { level: 'info', event: 'recovery', msg: 'conflict' },
      [young ?? '']: { level: 'warn', event: 'recovery', msg: 'failed' },
      [old ?? '']: { level: 'error', event: 'retention', msg: `the service drops this job at ${deadline}` },
    });
  });

  it('say what they could not list, and that they did not run', async () => {
    const { simulator } = fixture;
    const withoutKey = createSpeechClients({
      apiKey: null,
      regions: { eu1: { batchUrl: simulator.batchUrls.eu1 } },
    });
    let { speech } = fixture.parts;
    const parts = {
      ...fixture.parts,
      get speech() {
        return speech;
      },
    };
    const hiding = refuse('list');
    await runAnd(
      parts,
      () => {
        simulator.faults.remove(hiding);
        speech = withoutKey;
      },
      () => {
        speech = fixture.parts.speech;
      },
    );
    await withoutKey.close();
    expect(runs).toEqual([false, false, true]);
    const summaries = logged.filter(({ event }) => event === 'reconcile');
    expect(summaries).toMatchObject([
      { level: 'warn', msg: 'reconciled, not completely', faults: [{ region: 'eu1' }, { region: 'us1' }] },
      { level: 'error', msg: 'reconcile did not run', err: { type: 'SpeechError' } },
      { level: 'info', msg: 'reconciled' },
    ]);
  });

  it('begin at a random moment, and end at once when they are stopped before', async () => {
    let early = 0;
    const waiting = start(fixture.parts, 0.99, HOUR, () => {
      early += 1;
    });
    await runAnd(fixture.parts, () => {});
    await waiting.stop();
    expect(early).toBe(0);
  });
});

describe('runs that an operator orders', () => {
  const anna = { actor: 'anna', full: false };
  const recorded = async () => {};

  function reconciler(failingJobs?: () => Promise<ReadonlySet<string>>) {
    const metrics = { checked() {}, finished: (ok: boolean) => void runs.push(ok) };
    const destination = { write: (line: string) => void logged.push(JSON.parse(line)) };
    const log = createLogger({ level: 'info', destination });
    return createReconciler(fixture.parts, metrics, log, failingJobs);
  }

  it('are one at a time, and a run on the interval waits for theirs instead of beginning another', async () => {
    const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>();
    const { promise: gate, resolve: open } = Promise.withResolvers<ReadonlySet<string>>();
    let begun = 0;
    const runner = reconciler(() => {
      begun += 1;
      asked();
      return gate;
    });
    expect(await runner.start(anna, recorded)).toBe(true);
    await isAsked;
    expect(runner.state()).toMatchObject({ running: { actor: 'anna', checked: 0 }, last: null });
    expect(await runner.start({ actor: 'ben', full: true }, recorded)).toBe(false);
    // Due at once: it joins the run of the operator.
    runner.repeat({ interval: HOUR, random: () => 0 });
    await new Promise((resolve) => setTimeout(resolve, 50));
    open(new Set());
    await until(async () => runner.state().last !== null);
    await runner.stop();
    expect(begun).toBe(1);
    expect(runner.state()).toMatchObject({ running: null, last: { actor: 'anna', faults: [] } });
    expect(logged.filter(({ event }) => event === 'reconcile')).toMatchObject([{ actor: 'anna' }]);
  });

  it('do not begin when they cannot be recorded, and leave the way free for the next one', async () => {
    const runner = reconciler();
    const failing = () => Promise.reject(new StoreError('create', 'no'));
    await expect(runner.start(anna, failing)).rejects.toThrow(StoreError);
    await until(async () => runner.state().running === null);
    expect(runner.state().last).toBeNull();
    expect(await runner.start(anna, recorded)).toBe(true);
    await runner.stop();
  });

  it('do not begin when the process ends', async () => {
    const runner = reconciler();
    await runner.stop();
    expect(await runner.start(anna, recorded)).toBe(false);
  });
});
