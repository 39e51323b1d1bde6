import { describe, expect, it } from '@jest/globals';
import type { Finding } from '../../../src/cli/doctor/finding.js';
import { runCli } from '../../support/processes/run-cli.js';
import { startS3StandIn } from '../../support/store/s3-stand-in.js';

/* A person waits for these commands: they end although no call of the store does. */

const settingsOf = (endpoint: string) => ({
  store: {
    url: 's3://bucket',
    s3: {
      ...{ endpoint, region: 'us-east-1', forcePathStyle: true },
      // With these a single call would go on for longer than a test may take.
      ...{ accessKeyId: 'a', secretAccessKey: 'b', requestTimeout: '10m', retries: 4 },
    },
  },
});

describe('a store', () => {
  it.concurrent.each([
    ['that is silent', /./],
    ['whose objects are silent', /^GetObject$/],
  ])('%s ends status and doctor, which say so', async (_, silent) => {
    const standIn = await startS3StandIn();
    const env = { NODE_CONFIG: JSON.stringify(settingsOf(standIn.endpoint)) };
    standIn.state.put('.canary/one', Buffer.from('{}'), {}, 2);
    standIn.misbehave = ({ operation }) => (silent.test(operation) ? { kind: 'hang' } : null);
    const [status, doctor] = await Promise.all([
      runCli(['status', '--json'], env),
      runCli(['doctor', '--json'], env),
    ]);
    const { verdict } = JSON.parse(status.stdout);
    expect([status.code, verdict.issues]).toMatchObject([
      2,
      [{ code: 'store-unreadable', params: { reason: expect.stringMatching(/did not answer within/) } }],
    ]);
    const { findings } = JSON.parse(doctor.stdout) as { findings: Finding[] };
    expect([doctor.code, findings.find(({ check }) => check === 'store')]).toMatchObject([
      1,
      { verdict: 'failed', message: expect.stringMatching(/did not answer within/) },
    ]);
    await standIn.close();
  });
});
