/** A second, independent implementation of addresses and CIDRs with plain integers, as an oracle for the real one. */

export interface OracleAddress {
  readonly family: 4 | 6;
  readonly value: bigint;
}

export function v4Text(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.');
}

/** All eight groups spelled out: never the canonical form unless there is nothing to shorten. */
export function v6Text(value: bigint): string {
  return Array.from({ length: 8 }, (_, group) =>
    ((value >> BigInt(112 - group * 16)) & 0xffffn).toString(16),
  ).join(':');
}

export function addressText(address: OracleAddress): string {
  return address.family === 4 ? v4Text(address.value) : v6Text(address.value);
}

/** IPv4-mapped IPv6 is its IPv4. */
function unmapped(address: OracleAddress): OracleAddress {
  return address.family === 6 && address.value >> 32n === 0xffffn
    ? { family: 4, value: address.value & 0xffffffffn }
    : address;
}

/** Whether `address` lies in `base`/`bits`; false across families. */
export function holds(base: OracleAddress, bits: number, address: OracleAddress): boolean {
  const client = unmapped(address);
  const range = unmapped(base);
  const rangeBits = range.family === base.family ? bits : bits - 96;
  if (client.family !== range.family) return false;
  const width = BigInt((range.family === 4 ? 32 : 128) - rangeBits);
  return client.value >> width === range.value >> width;
}
