import ipRangeCheck from 'ip-range-check';
import { parseRange } from '../../text/ip-address.js';

/** Finds the first entry that holds an address. The address must be canonical (`normaliseAddress`). */
export type RangeMatcher = (address: string) => string | null;

/** Addresses remembered per matcher: senders and proxies are few, strangers must not fill memory. */
const REMEMBERED = 4096;

/**
 * Compiles addresses and CIDRs. ip-range-check does the matching, but takes anything and fails in silence:
 * every entry is therefore read strictly first and handed on in canonical form. Throws naming all wrong ones.
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

/** Keeps the latest answers of a pure function, the oldest going first. */
export function memoised<T>(decide: (address: string) => T): (address: string) => T {
  const answers = new Map<string, T>();
  return (address) => {
    const known = answers.get(address);
    if (known !== undefined) return known;
    const answer = decide(address);
    if (answers.size >= REMEMBERED) answers.delete(answers.keys().next().value as string);
    // A copy: a slice of X-Forwarded-For would keep the whole header alive.
    answers.set(Buffer.from(address, 'latin1').toString('latin1'), answer);
    return answer;
  };
}
