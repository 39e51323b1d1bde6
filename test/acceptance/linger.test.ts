import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ledgerOf, visibleKeys } from '../support/ledger/ledger-of.js';
import { sendCallback } from '../support/processes/admin-api.js';
import { type RunningService, startService } from '../support/processes/running-service.js';

let service: RunningService;

beforeAll(async () => {
  service = await startService({ ledger: { maxLinger: '5s' }, limits: { maxConcurrentDeliveries: 48 } });
});

afterAll(() => service.stop());

it('callbacks share a ledger segment within ledger.maxLinger, which ends once half of the possible deliveries wait', async () => {
  const sent = Array.from({ length: 24 }, (_, index) =>
    sendCallback(service, `id=j${index}&status=success`, undefined),
  );
  for (const { status } of await Promise.all(sent)) expect(status).toBe(200);
  expect(await ledgerOf(service.folder)).toHaveLength(24);
  const segments = await visibleKeys(service.folder, 'ledger/');
  // Two when the hour ended meanwhile.
  expect(segments).toHaveLength(new Set(segments.map((key) => dirname(key))).size);
});
