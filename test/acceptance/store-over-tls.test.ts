import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { pipeline } from 'node:stream';
import { createServer, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startProxy } from '../support/http/connect-proxy.js';
import { type ReceiverProcess, startProcess } from '../support/processes/receiver-process.js';
import { type S3StandIn, startS3StandIn } from '../support/store/s3-stand-in.js';
import { until } from '../support/until.js';

const CERTIFICATES = fileURLToPath(new URL('../support/http/certificates/', import.meta.url));
const CA = `${CERTIFICATES}first.cert.pem`;
/** More than a part. */
const LARGE = Buffer.alloc(6 * 1024 * 1024, 'media');

describe.each([
  { way: 'with NODE_EXTRA_CA_CERTS', variables: { NODE_EXTRA_CA_CERTS: CA }, isProxied: false },
  {
    way: 'through a proxy, with AWS_CA_BUNDLE',
    variables: { AWS_CA_BUNDLE: CA, NO_PROXY: 'store.example' },
    isProxied: true,
  },
])('a store over TLS, $way', ({ variables, isProxied }) => {
  let standIn: S3StandIn;
  let receiver: ReceiverProcess;
  const open = new Set<TLSSocket>();
  /** Ports of all connections to the store. */
  const ports: (number | undefined)[] = [];
  /** Ports of connections that the proxy opened. */
  const proxied = new Set<number | undefined>();
  const proxy = startProxy(({ localPort }) => proxied.add(localPort));
  const server = createServer(
    { cert: readFileSync(CA), key: readFileSync(`${CERTIFICATES}first.key.pem`) },
    (socket) => {
      const store = connect(Number(new URL(standIn.endpoint).port), '127.0.0.1');
      ports.push(socket.remotePort);
      open.add(socket);
      pipeline(socket, store, socket, () => open.delete(socket));
    },
  );

  beforeAll(async () => {
    standIn = await startS3StandIn();
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxyUrl = await proxy.url;
    const endpoint = `https://localhost:${(server.address() as AddressInfo).port}`;
    const s3 = { endpoint, region: 'us-east-1', forcePathStyle: true };
    receiver = await startProcess(
      {
        store: {
          url: 's3://bucket',
          partSize: '5MiB',
          s3: { ...s3, accessKeyId: 'AKIATEST', secretAccessKey: 'secret' },
        },
      },
      { ...variables, ...(isProxied && { HTTPS_PROXY: proxyUrl }) },
    );
    await until(async () => (await fetch(`${receiver.publicUrl}/readyz`)).ok);
  });
  afterAll(async () => {
    await receiver.destroy();
    for (const socket of open) socket.destroy();
    server.close();
    await proxy.close();
    await standIn.close();
  });

  async function send(id: string, body: string | Buffer<ArrayBuffer>, contentType: string) {
    const response = await fetch(`${receiver.publicUrl}/callbacks/default?id=${id}&status=success`, {
      method: 'POST',
      headers: { 'content-type': contentType },
      body,
    });
    return { status: response.status, ...((await response.json()) as { outcome?: string }) };
  }

  const bodyOf = (id: string) => {
    const found = [...standIn.state.objects].find(([key]) => key.includes(`/${id}/`));
    return found?.[1].body.toString();
  };

  it('gets what was sent, in one piece and in parts, and proves repetitions', async () => {
    expect(await send('small', '{"a":1}', 'application/json')).toMatchObject({ outcome: 'stored' });
    expect(await send('small', '{"a":1}', 'application/json')).toMatchObject({ outcome: 'duplicate' });
    expect(await send('large', LARGE, 'audio/wav')).toMatchObject({ outcome: 'stored' });
    expect(bodyOf('small')).toBe('{"a":1}');
    expect(bodyOf('large') === LARGE.toString()).toBe(true);
  });

  it('is reached over the proxy by every connection, or by none', () => {
    expect(ports.length).toBeGreaterThan(2);
    for (const port of ports) expect(proxied.has(port)).toBe(isProxied);
  });

  it('is reached again after all connections broke', async () => {
    for (const socket of open) socket.destroy();
    await until(() => open.size === 0);
    expect(await send('later', '{"a":1}', 'application/json')).toMatchObject({ outcome: 'stored' });
  });
});
