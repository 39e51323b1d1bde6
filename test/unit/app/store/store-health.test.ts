import { expect, it } from '@jest/globals';
import { StoreHealth } from '../../../../src/app/store/store-health.js';
import { parseConfig } from '../../../../src/config/config.js';
import type { Ledger } from '../../../../src/ledger/write/ledger.js';
import { createLogger } from '../../../../src/observe/logger.js';
import { type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import type { ProbeReport } from '../../../../src/store/probe/probe-store.js';
import { WeakStoreError } from '../../../../src/store/probe/store-proof.js';
import { keysOf } from '../../../support/store/archive-fixture.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';
import { until } from '../../../support/until.js';

const PROVEN: ProbeReport = {
  writable: true,
  condition: null,
  unfit: null,
  trustworthy: true,
  findings: [],
  warnings: [],
  conditionalPut: 'holds',
  conditionalComplete: 'holds',
};

function healthOf(
  store: ObjectStore,
  fault: Ledger['fault'] = () => null,
  probe = async () => PROVEN,
): StoreHealth {
  const log = createLogger({ level: 'fatal', destination: { write: () => true } });
  return new StoreHealth(parseConfig({}), {
    store,
    erasures: { has: async () => false },
    ledger: { fault },
    log,
    failures: { failed: () => undefined },
    cacheFolder: null,
    probe,
  });
}

it('is ready again as soon as the clock is right, although lines were refused a moment ago', async () => {
  let ahead = 0;
  let fault: ReturnType<Ledger['fault']> = null;
  const health = healthOf({ ...createMemoryStore(), clockOffset: () => ahead }, () => fault);
  expect(await health.prove()).toBe(true);
  expect(health.readiness()).toMatchObject({ ready: true });
  ahead = 86_400_000;
  fault = { reason: 'the clock is off', condition: 'clock', at: performance.now() };
  expect(health.readiness()).toMatchObject({ ready: false, cause: 'clock' });
  ahead = 0;
  expect(health.readiness()).toMatchObject({ ready: true });
  fault = { reason: 'refused', condition: 'denied', at: performance.now() + 60_000 };
  expect(health.readiness()).toMatchObject({ ready: false, cause: 'denied' });
  await health.stop();
});

it('is ready again as soon as something is stored, although the canary was refused', async () => {
  let isDenied = false;
  const store = createMemoryStore((operation) => {
    if (isDenied && operation === 'replace')
      throw new StoreError('replace', 'denied', { condition: 'denied' });
  });
  const health = healthOf(store);
  await health.prove();
  isDenied = true;
  await health.prove();
  expect(health.readiness()).toMatchObject({ ready: false, cause: 'denied' });
  health.called('create', 'ok', 1, null, '.canary/of-another-replica');
  expect(health.readiness()).toMatchObject({ ready: false });
  health.called('create', 'ok', 1, null, 'jobs/job1/transcript.json');
  expect(health.readiness()).toMatchObject({ ready: true });
  await health.stop();
});

it('reports a prefix that cannot be used, and one that can be again, as soon as its proof has ended', async () => {
  let isDenied = true;
  const store = createMemoryStore((operation, key) => {
    if (isDenied && operation === 'prove' && key.startsWith('jobs/'))
      throw new StoreError('prove', 'denied', { condition: 'denied' });
  });
  const written: string[] = [];
  const replace: ObjectStore['replace'] = (key, body, headers) => {
    written.push(String(body));
    return store.replace(key, body, headers);
  };
  const health = healthOf({ ...store, replace });
  await health.prove();
  isDenied = false;
  await health.prove();
  await health.stop();
  const reports = written.map((canary) => canary.includes('store-denied'));
  // The last canary of each proof came before the places were looked at.
  expect(reports).toEqual([false, true, true, true, false]);
});

it('leaves no canary behind where a prefix is found denied while it stops', async () => {
  let deny = () => {};
  const denied = new Promise<void>((resolve) => {
    deny = resolve;
  });
  const store = createMemoryStore(async (operation, key) => {
    if (operation !== 'prove' || !key.startsWith('jobs/')) return;
    await denied;
    throw new StoreError('prove', 'denied', { condition: 'denied' });
  });
  const health = healthOf(store);
  const proven = health.prove();
  await until(() => store.calls.some(({ operation }) => operation === 'prove'));
  await health.stop();
  deny();
  await proven;
  expect(health.ownIssues().map(({ code }) => code)).toEqual(['store-denied']);
  expect(await keysOf(store, '.canary/')).toEqual([]);
});

it('leaves no canary behind in a store that is refused: others would report a silent replica', async () => {
  const store = createMemoryStore();
  const health = healthOf(store, undefined, async () => {
    await until(() => [...store.objects.keys()].some((key) => key.startsWith('.canary/')));
    return { ...PROVEN, trustworthy: false, conditionalPut: 'ignored', findings: ['It replaces objects.'] };
  });
  await expect(health.prove()).rejects.toThrow(WeakStoreError);
  expect(await keysOf(store, '.canary/')).toEqual([]);
});
