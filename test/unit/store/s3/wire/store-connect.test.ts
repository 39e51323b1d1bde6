import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readProxySettings } from '../../../../../src/lib/outbound/proxy-settings.js';
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
  let proxy: ConnectProxy;
  const stores: ObjectStore[] = [];

  beforeEach(() => {
    proxy = startProxy(undefined, 'user:pass word');
  });
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
    await proxy.close();
  });

  async function failures(env: Record<string, string>): Promise<string[]> {
    const s3 = { ...S3, caBundle: CA, proxies: readProxySettings(env) };
    const store = await openStore({ url: 's3://bucket', s3 });
    stores.push(store);
    const requests: Promise<unknown>[] = [
      store.create('a', Buffer.from('a'), { contentType: 'text/plain', metadata: {} }),
      store.head('a'),
      store.read('a'),
      store.delete('a'),
    ];
    return Promise.all(requests.map((request) => request.then(String, String)));
  }

  it('give the proxy the credentials in its URL', async () => {
    const url = (await proxy.url).replace('//', '//user:pass%20word@');
    // The proxy finds nothing at the port.
    for (const said of await failures({ HTTPS_PROXY: url })) expect(said).not.toMatch(/\b407\b|secret|pass/);
    expect(proxy.targets).toEqual(['localhost:1', 'localhost:1', 'localhost:1', 'localhost:1']);
  });

  it('say that the URL of the proxy is none', async () => {
    for (const said of await failures({ HTTPS_PROXY: 'socks5://user:secret@localhost:1' }))
      expect(said).toMatch(/^(?!.*secret).*HTTPS_PROXY has to be/);
  });

  it('say that the proxy cannot be reached', async () => {
    for (const said of await failures({ HTTPS_PROXY: 'http://user:secret@localhost:1' }))
      expect(said).toMatch(/^(?!.*secret).*the proxy cannot be reached.*localhost:1: .*ECONNREFUSED/);
  });

  it('are not made with a CA bundle that cannot be read', async () => {
    const opening = openStore({ url: 's3://bucket', s3: { ...S3, caBundle: '/nowhere/ca.pem' } });
    await expect(opening).rejects.toThrow(/AWS_CA_BUNDLE.*ENOENT.*\/nowhere\/ca.pem/);
  });
});
