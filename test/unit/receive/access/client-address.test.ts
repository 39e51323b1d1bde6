import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileClientAddress } from '../../../../src/receive/access/access-check.js';

const read = compileClientAddress(['10.0.0.0/8', '2001:db8:1::/48']);

describe('compileClientAddress', () => {
  it.each<[string, string | undefined, string[] | undefined, string]>([
    ['without proxies between, the peer', '203.0.113.9', undefined, '203.0.113.9'],
    ['the peer when it is not trusted, whatever it claims', '203.0.113.9', ['192.0.2.1'], '203.0.113.9'],
    ['the peer when a trusted proxy sends no header', '10.0.0.1', undefined, '10.0.0.1'],
    ['the entry a trusted proxy appended', '10.0.0.1', ['192.0.2.1'], '192.0.2.1'],
    [
      'the first untrusted from the right, not the claim on the left',
      '10.0.0.1',
      ['192.0.2.66, 192.0.2.1, 10.0.0.2'],
      '192.0.2.1',
    ],
    [
      'across several header lines in their order',
      '10.0.0.1',
      ['192.0.2.66', '192.0.2.1', '10.0.0.2'],
      '192.0.2.1',
    ],
    ['the leftmost when every entry is trusted', '10.0.0.1', ['10.0.0.3, 10.0.0.2'], '10.0.0.3'],
    ['a mapped peer as its IPv4', '::ffff:10.0.0.1', ['::ffff:192.0.2.1'], '192.0.2.1'],
    ['IPv6 in canonical form', '2001:DB8:1::1', ['2001:db8:0002:0::7'], '2001:db8:2::7'],
    ['a link-local peer without its interface', 'fe80::1%eth0', undefined, 'fe80::1'],
    ['despite blanks around entries', '10.0.0.1', [' 192.0.2.1\t,\t10.0.0.2 '], '192.0.2.1'],
    ['an entry with a port', '10.0.0.1', ['192.0.2.1:5555'], '192.0.2.1'],
    ['an IPv6 entry with a port', '10.0.0.1', ['[2001:DB8::1]:443'], '2001:db8::1'],
    [
      'the client behind trusted proxies with ports',
      '10.0.0.1',
      ['192.0.2.1:1, 10.0.0.2:65535'],
      '192.0.2.1',
    ],
    ['an IPv4-mapped entry with a port', '10.0.0.1', ['[::ffff:192.0.2.1]:80'], '192.0.2.1'],
    ['an IPv6 entry in brackets', '10.0.0.1', ['[2001:DB8::7]'], '2001:db8::7'],
    ['the entry before an empty one', '10.0.0.1', ['203.0.113.7, '], '203.0.113.7'],
    [
      'the client despite empty entries',
      '10.0.0.1',
      [',192.0.2.66,, 192.0.2.1 ,\t,10.0.0.2,', ''],
      '192.0.2.1',
    ],
    ['without looking at claims beyond the client', '10.0.0.1', ['unknown, 192.0.2.1'], '192.0.2.1'],
  ])('takes %s', (_, peer, forwardedFor, address) => {
    expect(read(peer, forwardedFor)).toEqual({ address });
  });

  it.each<[string, string | undefined, string[] | undefined]>([
    ['a missing peer', undefined, undefined],
    ['an entry that is a word', '10.0.0.1', ['unknown']],
    ['an entry in brackets that is no IPv6', '10.0.0.1', ['[192.0.2.1]:5555']],
    ['an IPv6 entry with a port but no brackets', '10.0.0.1', ['2001:db8::1:5555x']],
    ['an entry with something that is no port', '10.0.0.1', ['192.0.2.1:99999']],
    ['an entry with an empty port', '10.0.0.1', ['192.0.2.1:']],
    ['an empty header', '10.0.0.1', ['']],
    ['a list of nothing', '10.0.0.1', [' , ,', ',']],
    ['an IPv4 entry in brackets', '10.0.0.1', ['[192.0.2.1]']],
    ['brackets around nothing', '10.0.0.1', ['[]']],
    ['brackets in brackets', '10.0.0.1', ['[[2001:db8::1]]']],
    ['an open bracket', '10.0.0.1', ['[2001:db8::1']],
    ['an interface in brackets', '10.0.0.1', ['[fe80::1%eth0]']],
    ['a wrong entry behind an empty one', '10.0.0.1', ['192.0.2.1, x, ,']],
    ['a wrong entry behind trusted ones', '10.0.0.1', ['192.0.2.1, x, 10.0.0.2']],
    ['an entry with a no-break space', '10.0.0.1', ['192.0.2.1\u00a0']],
  ])('cannot read %s', (_, peer, forwardedFor) => {
    expect(read(peer, forwardedFor)).toEqual({ unreadable: expect.any(String) });
  });

  it('does not show what the sender wrote', () => {
    expect(JSON.stringify(read('10.0.0.1', ['<script>']))).not.toContain('script');
  });

  it('trusts no proxy by default', () => {
    expect(compileClientAddress([])('127.0.0.1', ['192.0.2.1'])).toEqual({ address: '127.0.0.1' });
  });

  it.each(['true', '1', '10.0.0.0/40', 'loopback'])('refuses %j as a trusted proxy', (entry) => {
    expect(() => compileClientAddress([entry])).toThrow(entry);
  });

  it('never lets a client behind honest proxies choose its address', () => {
    const trusted = fc.nat(255).map((last) => `10.0.0.${last}`);
    const client = fc.nat(255).map((last) => `192.0.2.${last}`);
    const claims = fc.array(fc.oneof(trusted, client, fc.string()), { maxLength: 4 });
    fc.assert(
      fc.property(
        client,
        claims,
        fc.array(trusted, { minLength: 1, maxLength: 4 }),
        (real, lies, proxies) => {
          // Each proxy appends the address it was called from; the last one is our peer.
          const [peer, ...between] = proxies.toReversed();
          const header = [...lies, real, ...between.toReversed()].join(', ');
          expect(read(peer, [header])).toEqual({ address: real });
        },
      ),
    );
  });
});
