import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ObjectStore } from '../../../../../src/store/object-store.js';
import { openStore } from '../../../../../src/store/open-store.js';
import { type ConnectProxy, startProxy } from '../../../../support/http/connect-proxy.js';

const CA = fileURLToPath(new URL('../../../../support/http/certificates/first.cert.pem', import.meta.url));
const S3 = {
  endpoint: 'https://localhost:1',
  region: 'us-east-1',
  forcePathStyle: true,
  accessKeyId: 'AKIATEST',
  secretAccessKey: 'very-secret-key',
  retries: 0,
};

describe('connections to the store', () => {
  const { HTTPS_PROXY, NO_PROXY } = process.env;
  let proxy: ConnectProxy;
  let store: ObjectStore;

  beforeEach(async () => {
    proxy = startProxy(() => undefined, 'user:pass word');
    process.env.HTTPS_PROXY = await proxy.url;
    store = await openStore({ url: 's3://bucket', s3: { ...S3, caBundle: CA } });
  });
  afterEach(async () => {
    if (HTTPS_PROXY === undefined) delete process.env.HTTPS_PROXY;
    else process.env.HTTPS_PROXY = HTTPS_PROXY;
    if (NO_PROXY === undefined) delete process.env.NO_PROXY;
    else process.env.NO_PROXY = NO_PROXY;
    await store.close();
    await proxy.close();
  });

  const requests: [string, () => Promise<unknown>][] = [
    ['create', () => store.create('a', Buffer.from('a'), { contentType: 'text/plain', metadata: {} })],
    ['head', () => store.head('a')],
    ['read', () => store.read('a')],
    ['delete', () => store.delete('a')],
  ];

  it('says that the proxy refuses them', async () => {
    for (const [name, request] of requests)
      expect([name, await request().catch(String)]).toEqual([
        name,
        expect.stringMatching(/the proxy .*refuses.*answered 407 to CONNECT localhost:1\b/),
      ]);
  });

  it('gives the proxy the credentials in its URL', async () => {
    process.env.HTTPS_PROXY = (await proxy.url).replace('//', '//user:pass%20word@');
    // The proxy finds nothing at the port.
    for (const [name, request] of requests)
      expect([name, await request().catch(String)]).toEqual([
        name,
        expect.not.stringMatching(/\b407\b|secret|pass/),
      ]);
  });

  it('do not go through the proxy to a host in NO_PROXY', async () => {
    process.env.NO_PROXY = 'localhost';
    for (const [name, request] of requests)
      expect([name, await request().catch(String)]).toEqual([name, expect.stringContaining('ECONNREFUSED')]);
  });

  it('says that the URL of the proxy is none', async () => {
    process.env.HTTPS_PROXY = 'socks5://user:secret@localhost:1';
    for (const [name, request] of requests)
      expect([name, await request().catch(String)]).toEqual([
        name,
        expect.stringMatching(/^(?!.*secret).*HTTPS_PROXY/),
      ]);
  });

  it('are not made with a CA bundle that cannot be read', async () => {
    const opening = openStore({ url: 's3://bucket', s3: { ...S3, caBundle: '/nowhere/ca.pem' } });
    await expect(opening).rejects.toThrow(/AWS_CA_BUNDLE.*ENOENT.*\/nowhere\/ca.pem/);
  });
});
