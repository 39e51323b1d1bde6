import ipRangeCheck from 'ip-range-check';
import { parseRange } from '../../lib/text/ip-address.js';

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
