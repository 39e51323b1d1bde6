import { BlockList, isIP } from 'node:net';

/** A host and port as one connection is made to it; IPv6 addresses without brackets. */
export interface HostAndPort {
  readonly hostname: string;
  readonly port: number;
}

/** The hosts that are reached without a proxy. */
interface NoProxy {
  has(place: HostAndPort): boolean;
  /** Entries that match nothing, because they are neither a host, an address nor a range. */
  readonly invalid: readonly string[];
}

type Rule = (place: HostAndPort) => boolean;

/**
 * Reads `NO_PROXY`: entries separated by commas or white space. As curl does, `example.com`, `.example.com` and `*.example.com` all
 * mean the domain with everything below it, `*` means every host, and `:port` behind a host limits an entry to that port. Ranges such
 * as `10.0.0.0/8` hold for hosts that are given as an address: names are not resolved.
 */
export function parseNoProxy(text: string): NoProxy {
  const rules: Rule[] = [];
  const invalid: string[] = [];
  for (const entry of text.split(/[\s,]+/).filter((each) => each !== '')) {
    const rule = ruleOf(entry.toLowerCase());
    if (rule === null) invalid.push(entry);
    else rules.push(rule);
  }
  return {
    has({ hostname, port }) {
      const place = { hostname: hostname.toLowerCase().replace(/\.$/, ''), port };
      return rules.some((matches) => matches(place));
    },
    invalid,
  };
}

function ruleOf(entry: string): Rule | null {
  if (entry === '*') return () => true;
  if (entry.includes('/')) return rangeRule(entry);
  const [, bracketed, bare = '', portText] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  const host = isIP(entry) === 6 ? entry : (bracketed ?? bare);
  if (isIP(host) !== 0) return limited(addressRule(host), portText);
  const domain = host.replace(/^\*?\./, '').replace(/\.$/, '');
  if (bracketed !== undefined || !/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(domain)) return null;
  return limited(
    ({ hostname }) => hostname === domain || (isIP(hostname) === 0 && hostname.endsWith(`.${domain}`)),
    portText,
  );
}

function limited(rule: Rule, port: string | undefined): Rule {
  return port === undefined ? rule : (place) => place.port === Number(port) && rule(place);
}

function addressRule(address: string): Rule {
  return inside((list, family) => list.addAddress(address, family), address);
}

function rangeRule(range: string): Rule | null {
  const [, address = '', bits = ''] = /^\[?([0-9a-f.:]+)\]?\/(\d{1,3})$/.exec(range) ?? [];
  const version = isIP(address);
  if (version === 0 || Number(bits) > (version === 4 ? 32 : 128)) return null;
  return inside((list, family) => list.addSubnet(address, Number(bits), family), address);
}

/** Node's list also takes an IPv4 address that is written as IPv6. */
function inside(add: (list: BlockList, family: 'ipv4' | 'ipv6') => void, address: string): Rule {
  const list = new BlockList();
  add(list, familyOf(address));
  return ({ hostname }) => isIP(hostname) !== 0 && list.check(hostname, familyOf(hostname));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
