import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type RunningService, startService } from '../../support/processes/running-service.js';
import { type S3StandIn, startS3StandIn } from '../../support/store/s3-stand-in.js';
import { standInS3 } from '../../support/store/stand-in-store.js';
import { until } from '../../support/until.js';

const PART = 5 * 1024 * 1024;

let standIn: S3StandIn;
let service: RunningService;

beforeEach(async () => {
  standIn = await startS3StandIn();
});

afterEach(async () => {
  await service.stop();
  await standIn.close();
});

async function start(): Promise<void> {
  const expires = new Date(Date.now() + 5 * 86_400_000).toISOString();
  const main = { headers: ['X-Callback-Token: correct-horse-battery-staple'], expires };
  service = await startService({
    sources: { intake: { credentials: { main } } },
    store: { url: 's3://bucket', partSize: PART, s3: { ...standInS3(standIn), retries: 0 } },
    limits: { memoryBudget: 4 * PART, quarantineBytes: '128KiB' },
  });
}

const metrics = async () => (await fetch(`${service.adminUrl}/metrics`)).text();
const isKnown = async () =>
  !/^transcript_receiver_verdict_last_known_timestamp_seconds 0$/m.test(await metrics());

it('the metric of issues has what is known while the ledger cannot be read, and another one that this is not all: alerts go by them', async () => {
  standIn.misbehave = ({ operation, query }) =>
    operation === 'ListObjects' && query.get('prefix')?.includes('ledger')
      ? { kind: 'answer', status: 403, code: 'AccessDenied' }
      : null;
  await start();
  await until(async () => {
    const found = await metrics();
    return ['ledger-unreadable', 'credential-expiring'].every((code) =>
      found.includes(`\ntranscript_receiver_issues{code="${code}"`),
    );
  });
  expect(await isKnown()).toBe(false);
  expect(service.log).not.toContainEqual(expect.objectContaining({ event: 'unexpected' }));
});

it('the metric of a verdict that is known says when', async () => {
  await start();
  await until(isKnown);
});
