import { expect, it } from '@jest/globals';
import { openOutbox } from '../../../src/app/open-outbox.js';
import { createStoreFailureLog } from '../../../src/app/store/store-failure-log.js';
import { parseConfig } from '../../../src/config/config.js';
import { createLogger } from '../../../src/observe/logger.js';
import { createMetrics } from '../../../src/observe/metrics/metrics.js';
import { StoreError } from '../../../src/store/object-store.js';
import { FAST, SECRET } from '../../support/outbox/subscribed.js';
import { createMemoryStore } from '../../support/store/memory-store.js';
import { until } from '../../support/until.js';

it('logs once for each subscriber, without a stack, that the store refuses its state', async () => {
  let refused = 0;
  const store = createMemoryStore((operation, key) => {
    if (operation !== 'replace' || !key.endsWith('/state.json')) return;
    refused += 1;
    throw new StoreError('replace', `access denied at ${key}`, { condition: 'denied' });
  });
  const subscriber = { url: 'https://127.0.0.1:9/', secrets: [SECRET] };
  const config = parseConfig({ subscribers: { crm: subscriber, archive: subscriber } });
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  const metrics = createMetrics({ sources: [], regions: [], subscribers: ['crm', 'archive'], version: '1' });
  const facts = { isErased: async () => false };
  const failures = createStoreFailureLog(log);
  const outbox = openOutbox(config, store, facts, metrics.outbox, log, failures, FAST);
  outbox.start();
  await until(() => refused >= 10);
  await outbox.stop();
  metrics.close();
  const delayed = lines.filter(({ event }) => event === 'events-delayed');
  expect(delayed.map(({ subscriber: name, condition, err }) => [name, condition, err]).sort()).toEqual([
    ['archive', 'denied', undefined],
    ['crm', 'denied', undefined],
  ]);
});
