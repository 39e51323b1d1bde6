import { describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../src/domain/delivery.js';
import { Problem } from '../../../src/domain/problem.js';
import { createBoundedLog } from '../../../src/observe/bounded-log.js';
import { createLogger } from '../../../src/observe/logger.js';
import { createMetrics } from '../../../src/observe/metrics/metrics.js';
import { createRefusalLog } from '../../../src/observe/refusal-log.js';
import { createRefusalRing } from '../../../src/observe/refusal-ring.js';
import { createDeliveryReport } from '../../../src/receive/report.js';
import { StoreError } from '../../../src/store/object-store.js';

const LINE: LedgerLine = {
  v: 1,
  deliveryId: '01',
  receivedAt: '2026-11-21T00:00:00.000Z',
  origin: 'callback',
  source: 'default',
  region: null,
  clientIp: '127.0.0.1',
  method: 'POST',
  jobId: 'job1',
  status: 'success',
  credential: null,
  outcome: 'refused',
  reason: 'store-unavailable',
  items: [],
  bytes: 108_000,
  durationMs: 3,
  shape: null,
};

describe('the log line of a refused delivery', () => {
  const cause = new StoreError('create', 'the store failed', {
    cause: new Error('connect ECONNREFUSED 127.0.0.1:9000'),
  });
  const lines: string[] = [];
  const log = createLogger({
    level: 'info',
    destination: { write: (line) => lines.push(line) },
  });
  const metrics = createMetrics({ sources: ['default'], regions: [], version: 'test' });
  const bounded = createBoundedLog(log);
  const report = createDeliveryReport({
    deliveries: metrics.deliveries,
    ledger: metrics.ledger,
    log,
    bounded,
    logRefusal: createRefusalLog(bounded, log),
    refusals: createRefusalRing(),
  });
  metrics.close();

  it.each([
    [
      'a refused delivery',
      1,
      () =>
        report.refused(
          LINE,
          new Problem('store-unavailable', 'The store is unavailable; send it again.', { cause }),
        ),
    ],
    [
      'many ledger lines that were lost',
      5,
      () => {
        for (let n = 0; n < 50; n += 1) report.refusalUnrecorded(LINE, cause);
      },
    ],
  ])(
    'names the cause in words and without stacks, so that an outage does not fill the disk: %s',
    (_, written, act) => {
      lines.length = 0;
      act();
      expect(lines).toHaveLength(written);
      expect(lines[0]).toContain('the store failed; Error: connect ECONNREFUSED 127.0.0.1:9000');
      expect(lines[0]).not.toContain('    at ');
      expect(lines[0]?.length).toBeLessThan(700);
    },
  );
});
