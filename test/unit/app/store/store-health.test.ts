import { expect, it } from '@jest/globals';
import { createStoreHealth } from '../../../../src/app/store/store-health.js';
import { parseConfig } from '../../../../src/config/config.js';
import type { Ledger } from '../../../../src/ledger/write/ledger.js';
import { createLogger } from '../../../../src/observe/logger.js';
import type { ProbeReport } from '../../../../src/store/probe/probe-store.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const PROVEN: ProbeReport = {
  ...{ writable: true, condition: null, unfit: null, trustworthy: true, findings: [], warnings: [] },
  ...{ conditionalPut: 'holds', conditionalComplete: 'holds' },
};

it('is ready again as soon as the clock is right, although lines were refused a moment ago', async () => {
  let ahead = 0;
  let fault: ReturnType<Ledger['fault']> = null;
  const log = createLogger({ level: 'fatal', destination: { write: () => true } });
  const health = createStoreHealth(parseConfig({}), {
    store: { ...createMemoryStore(), clockOffset: () => ahead },
    erasures: { has: async () => false },
    ledger: { fault: () => fault },
    ...{ log, failures: { failed: () => undefined }, memory: null },
    probe: async () => PROVEN,
  });
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
