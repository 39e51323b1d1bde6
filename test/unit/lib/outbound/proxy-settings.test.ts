import { describe, expect, it } from '@jest/globals';
import { placeOf, proxyFor, readProxySettings } from '../../../../src/lib/outbound/proxy-settings.js';

const proxyOf = (url: string, env: Record<string, string>) =>
  proxyFor(readProxySettings(env), placeOf(new URL(url)))?.origin ?? null;

const BOTH = { HTTPS_PROXY: 'http://secure:1', HTTP_PROXY: 'http://plain:2' };

describe('the proxy of an address', () => {
  it.each<[string, Record<string, string>, string | null]>([
    ['https://a.example', {}, null],
    ['https://a.example', BOTH, 'http://secure:1'],
    ['wss://a.example', BOTH, 'http://secure:1'],
    ['http://a.example', BOTH, 'http://plain:2'],
    ['ws://a.example', BOTH, 'http://plain:2'],
    ['http://a.example', { HTTPS_PROXY: 'http://secure:1' }, null],
    ['https://a.example', { HTTP_PROXY: 'http://plain:2' }, null],
    ['https://a.example', { https_proxy: 'http://lower:3', HTTPS_PROXY: 'http://upper:4' }, 'http://lower:3'],
    ['https://a.example', { HTTPS_PROXY: 'proxy.example:3128' }, 'http://proxy.example:3128'],
    ['https://a.example', { HTTPS_PROXY: 'https://proxy.example' }, 'https://proxy.example'],
    ['https://a.example', { ...BOTH, NO_PROXY: 'a.example' }, null],
    ['https://a.example', { ...BOTH, no_proxy: 'a.example:443' }, null],
    ['http://a.example', { ...BOTH, NO_PROXY: 'a.example:80' }, null],
    ['https://[fd00::5]:9000', { ...BOTH, NO_PROXY: 'fd00::/8' }, null],
    ['https://10.1.2.3', { ...BOTH, NO_PROXY: '10.0.0.0/8' }, null],
  ])('%s with %j is %s', (url, env, expected) => {
    expect(proxyOf(url, env)).toBe(expected);
  });

  it.each(['socks5://user:secret@proxy:1', 'http://', '://', 'ftp://proxy'])(
    'cannot be %s, which is not repeated: it may hold a password',
    (value) => {
      expect(() => proxyOf('https://a.example', { HTTPS_PROXY: value })).toThrow(/^HTTPS_PROXY has to be/);
      expect(proxyOf('http://a.example', { HTTPS_PROXY: value })).toBeNull();
    },
  );
});
