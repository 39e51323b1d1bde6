import { expect, it } from '@jest/globals';
import { startService } from '../../support/processes/running-service.js';
import { startS3StandIn } from '../../support/store/s3-stand-in.js';
import { standInS3 } from '../../support/store/stand-in-store.js';
import { until } from '../../support/until.js';

const PART = 5 * 1024 * 1024;

it('the metric of issues has what is known while the ledger cannot be read: alerts of credentials go by it alone', async () => {
  const standIn = await startS3StandIn();
  standIn.misbehave = ({ operation, query }) =>
    operation === 'ListObjects' && query.get('prefix')?.includes('ledger')
      ? { kind: 'answer', status: 403, code: 'AccessDenied' }
      : null;
  const expires = new Date(Date.now() + 5 * 86_400_000).toISOString();
  const main = { headers: ['X-Callback-Token: correct-horse-battery-staple'], expires };
  const service = await startService({
    sources: { intake: { credentials: { main } } },
    store: { url: 's3://bucket', partSize: PART, s3: { ...standInS3(standIn), retries: 0 } },
    limits: { memoryBudget: 4 * PART, quarantineBytes: '128KiB' },
  });
  try {
    await until(async () => {
      const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text();
      return ['ledger-unreadable', 'credential-expiring'].every((code) =>
        metrics.includes(`\ntranscript_receiver_issues{code="${code}"`),
      );
    });
    expect(service.log).not.toContainEqual(expect.objectContaining({ event: 'unexpected' }));
  } finally {
    await service.stop();
    await standIn.close();
  }
});
