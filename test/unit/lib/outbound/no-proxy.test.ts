import { describe, expect, it } from '@jest/globals';
import { parseNoProxy } from '../../../../src/lib/outbound/no-proxy.js';

describe('NO_PROXY', () => {
  it.each<[string, string, number, boolean]>([
    ['', 'example.org', 443, false],
    ['example.org', 'example.org', 443, true],
    ['example.org', 'EXAMPLE.org.', 443, true],
    ['example.org', 'a.b.example.org', 443, true],
    ['.example.org', 'a.example.org', 443, true],
    ['.example.org', 'example.org', 443, true],
    ['*.example.org', 'a.example.org', 443, true],
    ['example.org', 'badexample.org', 443, false],
    ['a.example.org', 'example.org', 443, false],
    ['*', 'anything', 1, true],
    ['one, *', '10.0.0.1', 1, true],
    ['one two\tthree', 'three', 1, true],
    ['example.org:8443', 'example.org', 8443, true],
    ['example.org:8443', 'example.org', 443, false],
    ['localhost', 'localhost', 9000, true],
    ['127.0.0.1', '127.0.0.1', 9000, true],
    ['127.0.0.1:9000', '127.0.0.1', 9000, true],
    ['127.0.0.1:9000', '127.0.0.1', 9001, false],
    ['10.0.0.0/8', '10.255.0.1', 443, true],
    ['10.0.0.0/8', '11.0.0.1', 443, false],
    ['10.0.0.0/8', '::ffff:a00:1', 443, true],
    ['10.0.0.0/8', '10.example.org', 443, false],
    ['169.254.169.254/32', '169.254.169.254', 80, true],
    ['0.0.0.0/0', '8.8.8.8', 443, true],
    ['fd00::/8', 'fd12::1', 443, true],
    ['fd00::/8', 'fe80::1', 443, false],
    ['::1', '::1', 443, true],
    ['[::1]:8443', '::1', 8443, true],
    ['[::1]:8443', '::1', 443, false],
    ['0:0:0:0:0:0:0:1', '::1', 443, true],
    ['1.2', '10.1.2', 443, true],
    ['0.1', '10.0.0.1', 443, false],
  ])('%j and %s:%d: %s', (text, hostname, port, expected) => {
    expect(parseNoProxy(text).has({ hostname, port })).toBe(expected);
  });

  it('names the entries that match nothing, and goes on with the others', () => {
    const { has, invalid } = parseNoProxy('10.0.0.0/33, http://a.example, fd00::/129, [a], ok.example');
    expect(invalid).toEqual(['10.0.0.0/33', 'http://a.example', 'fd00::/129', '[a]']);
    expect(has({ hostname: 'ok.example', port: 443 })).toBe(true);
  });
});
