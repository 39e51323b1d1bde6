import { compileRanges, memoised, normaliseAddress, type RangeMatcher } from '../../lib/text/ip-address.js';

/** Addresses the service sends from, by region: entries are addresses or CIDRs. */
export type EgressTable = Readonly<Record<string, readonly string[]>>;

/** The entry of `allow` that admits every address. */
export const ANY = 'any';

interface AddressDecision {
  readonly allowed: boolean;
  /** The entry of `allow` that admitted the address, as configured; `any` only where no other entry does. */
  readonly rule: string | null;
  /** Region of the address, also when another rule admitted it. It later selects the API endpoint. */
  readonly region: string | null;
}

/** Checks one client address. A text that is not exactly one IP address is not allowed. */
export type Allowlist = (address: string) => AddressDecision;

interface Rule {
  readonly entry: string;
  readonly admits: (address: string, region: string | null) => boolean;
}

/** Compiles a source's `allow`: region names, addresses, CIDRs, `any`. @throws an error that names the invalid entries */
export function compileAllowlist(allow: readonly string[], egress: EgressTable): Allowlist {
  const regionOf = compileEgress(egress);
  const rules = allow.toSorted(anyLast).map((entry) => compileRule(entry, egress));
  const decide = memoised((address): AddressDecision => {
    const region = regionOf(address);
    const rule = rules.find(({ admits }) => admits(address, region));
    return { allowed: rule !== undefined, rule: rule?.entry ?? null, region };
  });
  return (given) => {
    const address = normaliseAddress(given);
    return address === null ? { allowed: false, rule: null, region: null } : decide(address);
  };
}

/** Finds the region of an address; the first one when two regions share the address. */
function compileEgress(egress: EgressTable): (address: string) => string | null {
  const matchers = Object.entries(egress).map(([region, ranges]) => [region, compileRanges(ranges)] as const);
  return (address) => matchers.find(([, matches]) => matches(address) !== null)?.[0] ?? null;
}

/** What `any` alone admits says nothing about its sender. */
function anyLast(one: string, other: string): number {
  return Number(one === ANY) - Number(other === ANY);
}

function compileRule(entry: string, egress: EgressTable): Rule {
  if (entry === ANY) return { entry, admits: () => true };
  if (Object.hasOwn(egress, entry)) return { entry, admits: (_, region) => region === entry };
  const matches: RangeMatcher = compileRanges([entry]);
  return { entry, admits: (address) => matches(address) !== null };
}
