import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compileAllowlist } from '../../../../src/receive/access/access-check.js';
import { addressText, holds, type OracleAddress } from '../../../support/cidr-oracle.js';

const egress = {
  eu1: ['192.0.2.1', '192.0.2.2'],
  eu2: [],
  us1: ['198.51.100.0/24'],
  us2: ['2001:db8::/64'],
  au1: [],
};

describe('compileAllowlist', () => {
  // Rule: Delivery: published addresses, by region
  it('admits by region and names rule and region', () => {
    const check = compileAllowlist(['eu1', 'us1'], egress);
    expect(check('192.0.2.2')).toEqual({ allowed: true, rule: 'eu1', region: 'eu1' });
    expect(check('198.51.100.77')).toEqual({ allowed: true, rule: 'us1', region: 'us1' });
    expect(check('192.0.2.3')).toEqual({ allowed: false, rule: null, region: null });
  });

  it('admits by a region that the configuration adds', () => {
    const check = compileAllowlist(['eu3'], { ...egress, eu3: ['203.0.113.0/28'] });
    expect(check('203.0.113.5')).toEqual({ allowed: true, rule: 'eu3', region: 'eu3' });
    expect(check('203.0.113.16')).toEqual({ allowed: false, rule: null, region: null });
  });

  it('finds the region of an address whichever rule admits it, and of one it refuses', () => {
    expect(compileAllowlist(['192.0.2.0/24', 'eu1'], egress)('192.0.2.1')).toEqual({
      allowed: true,
      rule: '192.0.2.0/24',
      region: 'eu1',
    });
    expect(compileAllowlist(['any'], egress)('198.51.100.1')).toEqual({
      allowed: true,
      rule: 'any',
      region: 'us1',
    });
    expect(compileAllowlist(['eu1'], egress)('198.51.100.1')).toEqual({
      allowed: false,
      rule: null,
      region: 'us1',
    });
  });

  it('takes an IPv4-mapped address for its IPv4, and a mapped range for its IPv4 range', () => {
    expect(compileAllowlist(['10.0.0.0/8'], egress)('::ffff:10.1.2.3').allowed).toBe(true);
    expect(compileAllowlist(['::ffff:10.0.0.0/104'], egress)('10.1.2.3').allowed).toBe(true);
    expect(compileAllowlist(['::ffff:10.1.2.3'], egress)('10.1.2.3').allowed).toBe(true);
    expect(compileAllowlist(['eu1'], egress)('::ffff:c000:201')).toMatchObject({
      allowed: true,
      region: 'eu1',
    });
  });

  it('keeps the families apart: ::/0 is not all of IPv4', () => {
    expect(compileAllowlist(['::/0'], egress)('10.0.0.1').allowed).toBe(false);
    expect(compileAllowlist(['0.0.0.0/0'], egress)('2001:db8::1').allowed).toBe(false);
  });

  it.each(['012.0.0.5', 'unknown', ''])('does not take %j for an address, not even with any', (text) => {
    expect(compileAllowlist(['10.0.0.0/8'], egress)(text).allowed).toBe(false);
    expect(compileAllowlist(['any'], egress)(text).allowed).toBe(false);
  });

  it.each(['10.0.0.0/33', 'eu9', 'Any'])('refuses to start with the entry %j and names it', (entry) => {
    expect(() => compileAllowlist([entry], egress)).toThrow(entry);
  });

  it('refuses a wrong entry of the egress table', () => {
    expect(() => compileAllowlist(['eu1'], { ...egress, eu1: ['192.0.2.300'] })).toThrow('192.0.2.300');
  });

  it('gives the same answer again from memory, also after very many other addresses', () => {
    const check = compileAllowlist(['10.0.0.0/16'], egress);
    const first = check('10.0.0.1');
    for (let index = 0; index < 5_000; index++) check(`10.1.${index >> 8}.${index & 255}`);
    expect(check('10.0.0.1')).toEqual(first);
    expect(check('10.1.0.1').allowed).toBe(false);
  });

  it('agrees with arithmetic about every range and address', () => {
    fc.assert(
      fc.property(ranges, fc.nat(127), fc.bigInt(0n, 2n ** 128n - 1n), (range, kept, noise) => {
        const text = `${addressText(range.base)}/${range.bits}`;
        const near = nearby(range.base, kept, noise);
        expect([
          text,
          addressText(near),
          compileAllowlist([text], egress)(addressText(near)).allowed,
        ]).toEqual([text, addressText(near), holds(range.base, range.bits, near)]);
      }),
      { numRuns: 400 },
    );
  });
});

const v4 = fc.bigInt(0n, 2n ** 32n - 1n).map((value): OracleAddress => ({ family: 4, value }));
const v6 = fc.bigInt(0n, 2n ** 128n - 1n).map((value): OracleAddress => ({ family: 6, value }));
const mapped = v4.map(({ value }): OracleAddress => ({ family: 6, value: (0xffffn << 32n) | value }));
const ranges = fc.oneof(
  fc.record({ base: v4, bits: fc.nat(32) }),
  fc.record({ base: v6, bits: fc.nat(128) }),
  fc.record({ base: mapped, bits: fc.integer({ min: 96, max: 128 }) }),
);

/** An address that shares its first bits with `base`: random ones would hardly ever be in range. */
function nearby(base: OracleAddress, kept: number, noise: bigint): OracleAddress {
  const width = base.family === 4 ? 32n : 128n;
  const loose = width - BigInt(kept) > 0n ? width - BigInt(kept) : 0n;
  const mask = (1n << loose) - 1n;
  return { family: base.family, value: (base.value & ~mask) | (noise & mask) };
}
