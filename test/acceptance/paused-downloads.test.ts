import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type ReceiverProcess, startReady } from '../support/processes/receiver-process.js';
import { type S3StandIn, startS3StandIn } from '../support/store/s3-stand-in.js';
import { until } from '../support/until.js';

/* Operators whose players pause, or who click too often, must not cost a callback. */

const TRANSCRIPT = JSON.stringify({ format: '2.9', job: {}, metadata: {}, results: [] });
const TOKEN = 'a-token-of-the-test-itself';
const PAUSED = 60;
/** More than the connections to the store that anything else shares. */
const LIMIT = 32;
/** More than what sockets take in on the way. */
const RECORDING = Buffer.alloc(24 * 1024 * 1024, 'r');

describe('more paused downloads than there may be', () => {
  let server: S3StandIn;
  let receiver: ReceiverProcess;
  let outgoing: ClientRequest[];

  beforeEach(async () => {
    server = await startS3StandIn();
    server.state.put('prefix/jobs/rec/data', RECORDING, { 'content-type': 'audio/wav' });
    outgoing = [];
    receiver = await startReady({
      receiver: { host: '127.0.0.1', port: 0, drainDelay: 0, drainDeadline: '30s' },
      admin: { port: 0, tokens: { tester: TOKEN } },
      store: {
        url: 's3://bucket/prefix',
        canaryInterval: '1s',
        s3: {
          endpoint: server.endpoint,
          region: 'us-east-1',
          forcePathStyle: true,
          accessKeyId: 'test',
          secretAccessKey: 'test-secret',
        },
      },
    });
  });
  afterEach(async () => {
    for (const each of outgoing) each.destroy();
    await receiver.destroy();
    await server.close();
  });

  /** Asks for the recording and reads nothing of it; what else is answered is read. */
  async function pausedDownload(): Promise<{ status: number; document: string }> {
    const asking = request(`${receiver.adminUrl}/admin/api/jobs/rec/artefacts/data`, {
      headers: { authorization: `Bearer ${TOKEN}` },
      agent: false,
    });
    asking.on('error', () => {});
    outgoing.push(asking);
    asking.end();
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    answer.on('error', () => {});
    const status = answer.statusCode ?? 0;
    return { status, document: status === 200 ? '' : (await buffer(answer)).toString() };
  }

  it('leave callbacks, repetitions and readiness alone, are bounded, and do not hold up the end', async () => {
    const deliver = () =>
      fetch(`${receiver.publicUrl}/callbacks/default?id=j1&status=success`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: TRANSCRIPT,
      });
    expect((await deliver()).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: PAUSED }, pausedDownload));
    const refused = answers.filter(({ status }) => status === 503);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(LIMIT);
    expect(refused).toHaveLength(PAUSED - LIMIT);
    // On a busy machine some of them run out of time on their way to the store.
    expect(refused.map(({ document }) => JSON.parse(document))).toContainEqual(
      expect.objectContaining({
        code: 'overloaded',
        detail: expect.stringContaining('32 downloads are in flight'),
      }),
    );
    // Read back and compared, which takes a connection for reading.
    const repeated = await deliver();
    expect(await repeated.json()).toMatchObject({ outcome: 'duplicate' });
    const canaries = () => server.requests.filter(({ key }) => key.includes('.canary/')).length;
    const before = canaries();
    await until(() => canaries() >= before + 4);
    // A process that stood still is not ready until its next check.
    await until(async () => (await fetch(`${receiver.publicUrl}/readyz`)).ok);
    receiver.signal('SIGTERM');
    expect(await receiver.ended).toBe(0);
  });
});
