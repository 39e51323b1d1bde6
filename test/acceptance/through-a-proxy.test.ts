import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Finding } from '../../src/cli/doctor/finding.js';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.js';
import { type ConnectProxy, startProxy } from '../support/http/connect-proxy.js';
import { type RecordingServer, recordingServer } from '../support/http/recording-server.js';
import { startTlsProxy, type TlsProxy } from '../support/http/tls-proxy.js';
import { SECRET } from '../support/outbox/subscribed.js';
import { startReady } from '../support/processes/receiver-process.js';
import { runCommand } from '../support/processes/run-command.js';
import { silence } from '../support/realtime.js';
import { type S3StandIn, startS3StandIn } from '../support/store/s3-stand-in.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';

const CA = fileURLToPath(new URL('../support/http/certificates/first.cert.pem', import.meta.url));

/* Everything the receiver connects to speaks TLS, and a proxy that knows only CONNECT counts who is asked for. */
describe('behind a proxy', () => {
  let proxy: ConnectProxy;
  let standIn: S3StandIn;
  let simulator: Simulator;
  let subscriber: RecordingServer;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const fronts: Record<string, TlsProxy> = {};
  let seenBefore: number;

  beforeAll(async () => {
    folder = await temporaryFolder();
    proxy = startProxy();
    standIn = await startS3StandIn();
    simulator = await createSimulator({ regions: { eu1: 0 }, realtime: {}, timeScale: 0.001 });
    subscriber = await recordingServer(() => 204);
    fronts.store = await startTlsProxy(standIn.endpoint);
    fronts.service = await startTlsProxy(simulator.batchUrls.eu1 ?? '');
    fronts.keys = await startTlsProxy(simulator.keysUrl);
    fronts.realtime = await startTlsProxy((simulator.realtimeUrl ?? '').replace('ws:', 'http:'));
    fronts.subscriber = await startTlsProxy(subscriber.url);
  });
  afterAll(async () => {
    for (const front of Object.values(fronts)) await front.close();
    await subscriber?.close();
    await simulator?.close();
    await standIn?.close();
    await proxy?.close();
    await folder?.remove();
  });
  beforeEach(() => {
    seenBefore = proxy.targets.length;
  });

  /** Names of what the proxy was asked for since the test began, in alphabetical order. */
  function seen(): string[] {
    const asked = new Set(proxy.targets.slice(seenBefore));
    return Object.keys(fronts)
      .filter((name) => asked.has(fronts[name]?.host ?? ''))
      .sort();
  }

  const settings = () => ({
    store: {
      url: 's3://bucket',
      s3: {
        endpoint: `https://${fronts.store?.host}`,
        region: 'us-east-1',
        forcePathStyle: true,
        accessKeyId: 'AKIATEST',
        secretAccessKey: 'secret',
        // The time of a check is that of all attempts.
        retries: 0,
      },
    },
    speech: {
      apiKey: simulator.apiKey,
      auth: 'temporaryKey',
      keysUrl: `https://${fronts.keys?.host}`,
      regions: { eu1: { batchUrl: `https://${fronts.service?.host}` } },
      realtime: { eu: `wss://${fronts.realtime?.host}` },
      retries: 0,
    },
    subscribers: { crm: { url: `https://${fronts.subscriber?.host}/events`, secrets: [SECRET] } },
  });

  const environment = async (more: Record<string, string> = {}) => ({
    NODE_EXTRA_CA_CERTS: CA,
    HTTPS_PROXY: await proxy.url,
    ...more,
  });

  async function command(args: string[], more: Record<string, string> = {}) {
    const config = { ...settings(), sources: { default: { allowUnauthenticated: true } } };
    const env = { NODE_CONFIG: JSON.stringify(config), ...(await environment(more)) };
    return runCommand(args, env, folder.path);
  }

  it('a job is fetched from the service into the store, with a key of the key service', async () => {
    const config = { type: 'transcription', transcription_config: { language: 'en' } } as const;
    const { id, notified } = simulator.submit({ words: 20, config });
    await notified;
    const { code, stdout, stderr } = await command(['refetch', id]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('recovered');
    expect(standIn.state.objects.has(`jobs/${id}/transcript.json`)).toBe(true);
    expect(seen()).toEqual(['keys', 'service', 'store']);
  });

  it('a session of realtime is captured', async () => {
    const audio = join(folder.path, 'speech.pcm');
    await writeFile(audio, silence(1));
    const raw = ['--language', 'en', '--encoding', 'pcm_s16le', '--sample-rate', '16000'];
    const { code, stderr } = await command(['capture', audio, ...raw, '--json']);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(seen()).toEqual(['keys', 'realtime', 'store']);
  });

  it('a subscriber is sent the event of a callback', async () => {
    const receiver = await startReady(settings(), await environment());
    try {
      // A new subscriber is sent what comes after its beginning.
      await until(() => receiver.log.some(({ event }) => event === 'events-sender'));
      const url = `${receiver.publicUrl}/callbacks/default?id=told&status=success`;
      const body = '{"format":"2.9","results":[]}';
      const headers = { 'content-type': 'application/json' };
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200);
      await until(() => subscriber.requests.some((request) => request.body.includes('"told"')));
      expect(seen()).toEqual(expect.arrayContaining(['store', 'subscriber']));
    } finally {
      await receiver.destroy();
    }
  });

  it('doctor goes the same ways and says which they are', async () => {
    const { stdout } = await command(['doctor', '--json']);
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    const found = (check: string) => findings.find((each) => each.check === check);
    const host = new URL(await proxy.url).host;
    const names = 'store, key service, service eu1, realtime eu, subscriber crm';
    expect(found('proxies')).toMatchObject({ verdict: 'ok', message: `Through ${host}: ${names}.` });
    for (const check of ['store', 'service eu1', 'subscriber crm'])
      expect(found(check)).toMatchObject({ verdict: 'ok' });
    expect(seen()).toEqual(['keys', 'service', 'store', 'subscriber']);
  });

  it('what NO_PROXY names is reached without it', async () => {
    const noProxy = `127.0.0.0/8,${fronts.subscriber?.host},${fronts.service?.host},10.0.0.0/33`;
    const { stdout } = await command(['doctor', '--json'], { NO_PROXY: noProxy });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    expect(seen()).toEqual(['keys', 'store']);
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'proxies',
        message: expect.stringMatching(/ Direct: service eu1, subscriber crm\.$/),
      }),
    );
    expect(findings).toContainEqual(
      expect.objectContaining({ check: 'NO_PROXY', message: expect.stringContaining('10.0.0.0/33') }),
    );
    for (const check of ['service eu1', 'subscriber crm'])
      expect(findings).toContainEqual(expect.objectContaining({ check, verdict: 'ok' }));
  });

  it('a proxy that refuses is named by each check', async () => {
    const closed = startProxy(undefined, 'user:password');
    try {
      const { code, stdout } = await command(['doctor', '--json'], { HTTPS_PROXY: await closed.url });
      const { findings } = JSON.parse(stdout) as { findings: Finding[] };
      expect(code).toBe(1);
      const said = findings.filter(({ verdict }) => verdict === 'failed').map(({ message }) => message);
      expect(said).toEqual([
        expect.stringContaining('the proxy refuses to connect to the store'),
        expect.stringContaining('PROXY_REFUSED'),
        expect.stringContaining('PROXY_REFUSED'),
        'It did not answer the test event: PROXY_REFUSED.',
      ]);
    } finally {
      await closed.close();
    }
  });
});
