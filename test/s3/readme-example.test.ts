import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { openStore } from '../../src/store/open-store.js';
import { type ReceiverProcess, startReady } from '../support/processes/receiver-process.js';
import { runCommand } from '../support/processes/run-command.js';
import { openRealBucket, realS3Settings } from '../support/store/real-s3.js';

const SECRET = 'a-secret-of-more-than-twenty-characters';
const EGRESS = new URL('../../config/egress.yaml', import.meta.url);

it("README's configuration for production starts on a real S3 server, stores a callback, and doctor finds nothing wrong with the store", async () => {
  const bucket = await openRealBucket();
  const folder = mkdtempSync(join(tmpdir(), 'readme-'));
  let receiver: ReceiverProcess | null = null;
  try {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(readme) ?? [];
    writeFileSync(join(folder, 'secret'), `${SECRET}\n`);
    writeFileSync(
      join(folder, 'default.yaml'),
      yaml
        .replaceAll(/\/run\/secrets\/[\w-]+/g, join(folder, 'secret'))
        .replace('s3://my-bucket/transcripts', bucket.options.url),
    );
    const { endpoint, accessKeyId = '', secretAccessKey = '' } = realS3Settings();
    const environment = {
      NODE_CONFIG_DIR: folder,
      // Ports that are free, and this machine as the balancer; the speech service of the example does not exist.
      NODE_CONFIG: JSON.stringify({
        receiver: { port: 0, trustedProxies: ['127.0.0.0/8', '::1'] },
        admin: { port: 0 },
        recovery: { interval: 'off' },
        store: { s3: { endpoint, forcePathStyle: true } },
      }),
      AWS_ACCESS_KEY_ID: accessKeyId ?? '',
      AWS_SECRET_ACCESS_KEY: secretAccessKey ?? '',
      TR_SPEECH_EU1_URL: 'http://127.0.0.1:1',
      TR_SPEECH_US1_URL: 'http://127.0.0.1:1',
      XDG_CACHE_HOME: join(folder, 'cache'),
    };
    receiver = await startReady({}, environment);
    const [address = ''] =
      /eu1:[\s\S]*?(\d+\.\d+\.\d+\.\d+)/.exec(readFileSync(EGRESS, 'utf8'))?.slice(1) ?? [];
    const answer = await fetch(`${receiver.publicUrl}/callbacks/intake?id=readme&status=success`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-callback-token': SECRET,
        'x-forwarded-for': address,
      },
      body: '{"format":"2.9","job":{"id":"readme"},"metadata":{},"results":[]}',
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { outcome: 'stored' }]);
    const store = await openStore(bucket.options);
    expect(await store.head('jobs/readme/transcript.json')).not.toBeNull();
    await store.close();
    const { stdout } = await runCommand(['doctor', '--json'], { NODE_ENV: 'production', ...environment });
    const { findings } = JSON.parse(stdout) as { findings: { check: string; verdict: string }[] };
    const failed = findings.filter(({ verdict }) => verdict === 'failed').map(({ check }) => check);
    expect(failed).toEqual(['service eu1', 'service us1']);
  } finally {
    await receiver?.destroy();
    rmSync(folder, { recursive: true });
    await bucket.dispose();
  }
}, 120_000);
