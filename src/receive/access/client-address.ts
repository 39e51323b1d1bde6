import { compileRanges, normaliseAddress, peerAddress } from '../../lib/text/ip-address.js';

/** The client's address in canonical form, or why it cannot be read. The reason is safe to show. */
type ClientAddress = { readonly address: string } | { readonly unreadable: string };

/** Finds the client behind trusted proxies. `forwardedFor` holds the values of all X-Forwarded-For lines in order. */
export type ClientAddressReader = (
  peer: string | undefined,
  forwardedFor: readonly string[] | undefined,
) => ClientAddress;

/**
 * The client is the socket's peer. When the peer is a trusted proxy, it is the first untrusted entry of X-Forwarded-For
 * from the right: each trusted proxy appends the address it saw, and anybody can write the entries left of those. Without
 * the header it is the peer; when every entry is trusted, the leftmost one. An entry before that which is not an IP
 * address, with or without brackets and a port, makes the client unreadable; empty ones are skipped.
 */
export function compileClientAddress(trustedProxies: readonly string[]): ClientAddressReader {
  const trustedRange = compileRanges(trustedProxies);
  const isTrusted = (address: string) => trustedRange(address) !== null;
  return (peer, forwardedFor) => {
    const address = peerAddress(peer);
    if (address === null) return { unreadable: 'the peer of the connection has no IP address' };
    if (!isTrusted(address) || forwardedFor === undefined) return { address };
    return firstUntrusted(forwardedFor.join(',').split(','), isTrusted);
  };
}

/** How X-Forwarded-For was used; explains to operators which address counts. */
export interface ForwardedFor {
  /** `ignored`: the peer is not a trusted proxy, so anybody could have written the header. */
  readonly header: 'absent' | 'ignored' | 'followed';
  /** Canonical address of the connection's peer; null when it is not an IP address. */
  readonly peer: string | null;
  /** The address that would count if the peer were trusted; null when it cannot be read. */
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
    const peer = peerAddress(given);
    if (forwardedFor === undefined) return { header: 'absent', peer, claimed: null };
    const claim = firstUntrusted(
      forwardedFor.join(',').split(','),
      (address) => trustedRange(address) !== null,
    );
    const claimed = 'address' in claim ? claim.address : null;
    const followed = peer !== null && trustedRange(peer) !== null;
    return { header: followed ? 'followed' : 'ignored', peer, claimed };
  };
}

/**
 * The address of an entry with brackets or a port. Azure's Application Gateway appends the client's port: `192.0.2.1:5555`,
 * `[2001:db8::1]:5555`. Some proxies write IPv6 in brackets without one, as RFC 7239 does. Brackets are for IPv6 alone.
 */
function bareAddress(entry: string): string {
  const [, inBrackets, plain, port] =
    /^(?:\[([^\][]*:[^\][]*)\]|([\d.]+)(?=:))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  return Number(port ?? 0) > 65_535 ? entry : (inBrackets ?? plain ?? entry);
}

function firstUntrusted(entries: readonly string[], isTrusted: (address: string) => boolean): ClientAddress {
  let leftmost: ClientAddress = { unreadable: 'X-Forwarded-For is empty' };
  for (const padded of entries.toReversed()) {
    const entry = padded.replace(/^[ \t]+|[ \t]+$/g, '');
    // A recipient ignores empty elements of a list (RFC 9110, 5.6.1.2).
    if (entry === '') continue;
    const address = normaliseAddress(bareAddress(entry));
    if (address === null) return { unreadable: 'X-Forwarded-For holds an entry that is not an IP address' };
    leftmost = { address };
    if (!isTrusted(address)) return leftmost;
  }
  return leftmost;
}
