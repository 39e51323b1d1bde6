import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { pipeline } from 'node:stream';
import { createServer, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ReceiverProcess, startProcess } from '../support/processes/receiver-process.js';
import { type S3StandIn, startS3StandIn } from '../support/store/s3-stand-in.js';
import { until } from '../support/until.js';

const CERTIFICATES = fileURLToPath(new URL('../support/http/certificates/', import.meta.url));
const CA = `${CERTIFICATES}first.cert.pem`;
const LARGE = Buffer.alloc(12 * 1024 * 1024, 'media');

describe('a store over TLS', () => {
  let standIn: S3StandIn;
  let receiver: ReceiverProcess;
  const open = new Set<TLSSocket>();
  const connections: TLSSocket[] = [];
  const server = createServer(
    { cert: readFileSync(CA), key: readFileSync(`${CERTIFICATES}first.key.pem`) },
    (socket) => {
      const store = connect(Number(new URL(standIn.endpoint).port), '127.0.0.1');
      connections.push(socket);
      open.add(socket);
      pipeline(socket, store, socket, () => open.delete(socket));
    },
  );

  beforeAll(async () => {
    standIn = await startS3StandIn();
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const endpoint = `https://localhost:${(server.address() as AddressInfo).port}`;
    const s3 = { endpoint, region: 'us-east-1', forcePathStyle: true };
    receiver = await startProcess(
      { store: { url: 's3://bucket', s3: { ...s3, accessKeyId: 'AKIATEST', secretAccessKey: 'secret' } } },
      { NODE_EXTRA_CA_CERTS: CA },
    );
    await until(async () => (await fetch(`${receiver.publicUrl}/readyz`)).ok);
  });
  afterAll(async () => {
    await receiver.destroy();
    for (const socket of open) socket.destroy();
    server.close();
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

  it('is reached again after all connections broke, with the sessions that were agreed on', async () => {
    const before = connections.length;
    for (const socket of open) socket.destroy();
    await until(() => open.size === 0);
    expect(await send('later', '{"a":1}', 'application/json')).toMatchObject({ outcome: 'stored' });
    const later = connections.slice(before);
    expect(later.some((socket) => socket.isSessionReused())).toBe(true);
  });
});
