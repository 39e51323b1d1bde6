import { isIP } from 'node:net';
import ipRangeCheck from 'ip-range-check';

/**
 * Strict parsing of addresses and ranges. Only what `node:net` accepts is an IP address. Octal, hexadecimal and short forms,
 * which range matchers accept silently, are rejected.
 */

const MAPPED_PREFIX = '::ffff:';

/**
 * The canonical text of an address, or null when the text is not exactly one IP address.
 * IPv4-mapped IPv6 becomes its IPv4; other IPv6 is compressed lower case; zone ids are refused.
 */
export function normaliseAddress(text: string): string | null {
  switch (isIP(text)) {
    case 4:
      return text;
    case 6:
      return text.includes('%') ? null : canonicalV6(text);
    default:
      return null;
  }
}

/**
 * The canonical address at the other end of a socket; null when it has none. Node writes IPv4 peers of a socket for both families
 * as `::ffff:192.0.2.1`, and appends the interface to link-local ones: `fe80::1%eth0`.
 */
export function peerAddress(remoteAddress: string | undefined): string | null {
  return normaliseAddress((remoteAddress ?? '').replace(/%.*/s, ''));
}

/** Parses an address or CIDR, to a canonical `address/bits`; a mapped range is given as its IPv4 range. */
export function parseRange(text: string): { readonly cidr: string } | { readonly fault: string } {
  if (/[,;\s]/.test(text))
    return {
      fault:
        'several values in one text; write a list with one entry each, in a TR_ variable separated by commas',
    };
  const slash = text.indexOf('/');
  const address = slash === -1 ? text : text.slice(0, slash);
  const fault = addressFault(address);
  const normalised = normaliseAddress(address);
  if (fault !== null || normalised === null) return { fault: fault ?? 'not an IP address' };
  const writtenFamily = isIP(address);
  const writtenBits = slash === -1 ? (writtenFamily === 4 ? 32 : 128) : readBits(text.slice(slash + 1));
  if (writtenBits === null || writtenBits > (writtenFamily === 4 ? 32 : 128)) {
    return { fault: `the prefix length must be 0 to ${writtenFamily === 4 ? 32 : 128}` };
  }
  if (writtenFamily === isIP(normalised)) return { cidr: `${normalised}/${writtenBits}` };
  // ::ffff:0:0/96 is all of IPv4; a shorter prefix would reach beyond it and has no IPv4 form.
  if (writtenBits < 96)
    return { fault: 'a range of IPv4-mapped addresses needs a prefix length of at least 96' };
  return { cidr: `${normalised}/${writtenBits - 96}` };
}

/**
 * How many leading bits two canonical addresses share; null for different families. The second may have a prefix length,
 * which limits the result.
 */
export function sharedBits(address: string, range: string): number | null {
  const [start = '', length] = range.split('/');
  const a = bitsOf(address);
  const b = bitsOf(start);
  if (a.length !== b.length) return null;
  const most = Math.min(a.length, length === undefined ? a.length : Number(length));
  let shared = 0;
  while (shared < most && a[shared] === b[shared]) shared += 1;
  return shared;
}

/** A canonical address as ones and zeros. */
function bitsOf(address: string): string {
  if (isIP(address) === 4) {
    return address
      .split('.')
      .map((part) => Number(part).toString(2).padStart(8, '0'))
      .join('');
  }
  const [head = '', tail] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const last = tail === undefined ? [] : groups(tail);
  const first = groups(head);
  const zeros = Array.from({ length: 8 - first.length - last.length }, () => '0');
  return [...first, ...zeros, ...last]
    .map((part) => Number.parseInt(part, 16).toString(2).padStart(16, '0'))
    .join('');
}

function readBits(text: string): number | null {
  return /^(?:0|[1-9]\d{0,2})$/.test(text) ? Number(text) : null;
}

/** Names the usual mistakes; null when the text may be an address. */
function addressFault(text: string): string | null {
  if (text === '') return 'empty';
  if (isIP(text) !== 0) return text.includes('%') ? 'addresses with a zone id are not accepted' : null;
  if (/^\d{1,3}(\.\d{1,3}){3}:\d+$/.test(text) || /^\[.*\](:\d+)?$/.test(text)) {
    return 'an address without port and brackets is expected';
  }
  if (/^[0-9a-fx.]+$/i.test(text) && !text.includes(':')) {
    return 'not an IPv4 address in full decimal form (four numbers from 0 to 255 without leading zeros)';
  }
  return 'not an IP address';
}

function canonicalV6(text: string): string {
  // How Node writes IPv4 peers of a dual-stack socket: a shortcut for every request.
  if (text.startsWith(MAPPED_PREFIX) && isIP(text.slice(MAPPED_PREFIX.length)) === 4) {
    return text.slice(MAPPED_PREFIX.length);
  }
  // The URL parser implements RFC 5952 and turns the dotted tail of a mapped address into two groups.
  const canonical = new URL(`http://[${text}]/`).hostname.slice(1, -1);
  // Exactly two groups follow: ::ffff:0:a00:5 is another address, which must not pass for 10.0.0.5.
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return canonical;
  const bits = (Number.parseInt(high, 16) * 2 ** 16 + Number.parseInt(low, 16)) >>> 0;
  return [bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255].join('.');
}

/** Finds the first entry that contains an address. The address must be canonical (`normaliseAddress`). */
export type RangeMatcher = (address: string) => string | null;

/** Addresses cached per matcher. Senders and proxies are few; unknown senders must not exhaust memory. */
const CACHE_SIZE = 4096;

/**
 * Compiles addresses and CIDRs. ip-range-check does the matching, but accepts any text and fails silently. Therefore
 * every entry is parsed strictly first and passed on in canonical form. @throws an error that names all invalid entries
 */
export function compileRanges(entries: readonly string[]): RangeMatcher {
  const faults: string[] = [];
  const ranges: { readonly entry: string; readonly cidr: string }[] = [];
  for (const entry of entries) {
    const parsed = parseRange(entry);
    if ('fault' in parsed) faults.push(`${JSON.stringify(entry)} (${parsed.fault})`);
    else ranges.push({ entry, cidr: parsed.cidr });
  }
  if (faults.length > 0) throw new Error(`not an address or CIDR: ${faults.join('; ')}`);
  return memoised((address) => ranges.find(({ cidr }) => ipRangeCheck(address, cidr))?.entry ?? null);
}

/** Caches the results of a pure function; a full cache drops its oldest entry. */
export function memoised<T>(decide: (address: string) => T): (address: string) => T {
  const cache = new Map<string, T>();
  return (address) => {
    const cached = cache.get(address);
    if (cached !== undefined) return cached;
    const result = decide(address);
    if (cache.size >= CACHE_SIZE) cache.delete(cache.keys().next().value as string);
    // A copy: a slice of X-Forwarded-For would keep the whole header alive.
    cache.set(Buffer.from(address, 'latin1').toString('latin1'), result);
    return result;
  };
}
