import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NO_PROXIES } from '../../src/lib/outbound/proxy-settings.js';
import { createSpeechClients } from '../../src/speech/speech.js';
import { openStore } from '../../src/store/open-store.js';
import { createEndpoint } from '../../src/subscribers/send/endpoint.js';
import { testEvent } from '../../src/subscribers/test-event.js';
import { subscriberAt } from '../support/outbox/subscribed.js';

const CERTIFICATES = fileURLToPath(new URL('../support/http/certificates/', import.meta.url));
const CA = `${CERTIFICATES}first.cert.pem`;

/* Connections are bounded and watched one request at a time, which HTTP/2 would undo: undici offers it by default. */
describe('a server that speaks HTTP/2 as well', () => {
  const trusted = getCACertificates('default');
  let server: Http2SecureServer;
  let url: string;
  let versions: string[];

  beforeEach(async () => {
    versions = [];
    const cert = readFileSync(CA);
    setDefaultCACertificates([...trusted, cert]);
    const key = readFileSync(`${CERTIFICATES}first.key.pem`);
    server = createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
      versions.push(request.httpVersion);
      // As a store names its answers.
      response.setHeader('x-amz-request-id', '1');
      response.setHeader('etag', '"a"');
      response.statusCode = request.method === 'DELETE' ? 204 : 200;
      request.resume().on('end', () => response.end());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `https://localhost:${(server.address() as AddressInfo).port}`;
  });
  afterEach(async () => {
    setDefaultCACertificates(trusted);
    await new Promise((done) => server.close(done));
  });

  it('gets HTTP/1.1 as a subscriber', async () => {
    const endpoint = createEndpoint(subscriberAt(url), NO_PROXIES);
    expect(await endpoint.send(testEvent('id', '/test'), new AbortController().signal)).toMatchObject({
      delivered: true,
    });
    await endpoint.close();
    expect(versions).toEqual(['1.1']);
  });

  it('gets HTTP/1.1 as the speech service', async () => {
    const clients = createSpeechClients({ apiKey: 'key', regions: { eu1: { batchUrl: url } } });
    await clients
      .jobs('eu1')
      .record('job1')
      .catch(() => undefined);
    await clients.close();
    expect(versions).toEqual(['1.1']);
  });

  it('gets HTTP/1.1 as the store', async () => {
    const s3 = { endpoint: url, region: 'us-east-1', forcePathStyle: true, caBundle: CA };
    const store = await openStore({
      url: 's3://bucket',
      s3: { ...s3, accessKeyId: 'id', secretAccessKey: 'key', retries: 0 },
    });
    await store.create('a', Buffer.from('a'), { contentType: 'text/plain', metadata: {} });
    await store.delete('a');
    await store.close();
    expect(versions).toEqual(['1.1', '1.1']);
  });
});
