import { normaliseAddress } from '../../text/ip-address.js';
import { compileRanges } from './range-matcher.js';

/** Whose address counts, in canonical form, or why it cannot be told; the reason is safe to show. */
export type ClientAddress = { readonly address: string } | { readonly unreadable: string };

/**
 * Finds the client behind trusted proxies. `forwardedFor` are the values of all X-Forwarded-For lines in the
 * order they came.
 */
export type ClientAddressReader = (
  peer: string | undefined,
  forwardedFor: readonly string[] | undefined,
) => ClientAddress;

/**
 * The socket's peer; or, when the peer is a trusted proxy, the first untrusted entry of X-Forwarded-For from
 * the right. Each trusted proxy appended what it saw, so everything further left is only a claim. No header:
 * the peer; every entry trusted: the leftmost. An entry on the way that is neither an IP nor one with a port is unreadable.
 */
export function compileClientAddress(trustedProxies: readonly string[]): ClientAddressReader {
  const trustedRange = compileRanges(trustedProxies);
  const isTrusted = (address: string) => trustedRange(address) !== null;
  return (peer, forwardedFor) => {
    const peerAddress = normaliseAddress(withoutZone(peer ?? ''));
    if (peerAddress === null) return { unreadable: 'the peer of the connection has no IP address' };
    if (!isTrusted(peerAddress) || forwardedFor === undefined) return { address: peerAddress };
    return walk(forwardedFor.join(',').split(','), isTrusted);
  };
}

/** What became of X-Forwarded-For, for whoever asks why an address counts. */
export interface ForwardedFor {
  /** `ignored`: the peer is no trusted proxy, so that anybody could have written the header. */
  readonly header: 'absent' | 'ignored' | 'followed';
  /** Canonical address of the connection's other end; null when it is none. */
  readonly peer: string | null;
  /** The address that would count if the peer were trusted; null when there is none that could be read. */
  readonly claimed: string | null;
}

export type ForwardedForExplainer = (
  peer: string | undefined,
  forwardedFor: readonly string[] | undefined,
) => ForwardedFor;

/** Explains what `compileClientAddress` does with the same proxies. */
export function explainForwardedFor(trustedProxies: readonly string[]): ForwardedForExplainer {
  const trustedRange = compileRanges(trustedProxies);
  return (given, forwardedFor) => {
    const peer = normaliseAddress(withoutZone(given ?? ''));
    if (forwardedFor === undefined) return { header: 'absent', peer, claimed: null };
    const claim = walk(forwardedFor.join(',').split(','), (address) => trustedRange(address) !== null);
    const claimed = 'address' in claim ? claim.address : null;
    const followed = peer !== null && trustedRange(peer) !== null;
    return { header: followed ? 'followed' : 'ignored', peer, claimed };
  };
}

/** Node names the interface of link-local peers behind their address: fe80::1%eth0. */
function withoutZone(peer: string): string {
  const zone = peer.indexOf('%');
  return zone === -1 ? peer : peer.slice(0, zone);
}

/** Azure's Application Gateway writes the client's port behind its address: `192.0.2.1:5555`, `[2001:db8::1]:5555`. */
function withoutPort(entry: string): string {
  const [, inBrackets, plain, port] = /^(?:\[([^\][]*)\]|([\d.]+)):(\d{1,5})$/.exec(entry) ?? [];
  if (port === undefined || Number(port) > 65_535) return entry;
  if (inBrackets === undefined) return plain ?? entry;
  // Brackets are for IPv6 alone.
  return inBrackets.includes(':') ? inBrackets : entry;
}

function walk(entries: readonly string[], isTrusted: (address: string) => boolean): ClientAddress {
  let leftmost: ClientAddress = { unreadable: 'X-Forwarded-For is empty' };
  for (const entry of entries.toReversed()) {
    const address = normaliseAddress(withoutPort(entry.replace(/^[ \t]+|[ \t]+$/g, '')));
    if (address === null) return { unreadable: 'X-Forwarded-For holds an entry that is not an IP address' };
    leftmost = { address };
    if (!isTrusted(address)) return leftmost;
  }
  return leftmost;
}
