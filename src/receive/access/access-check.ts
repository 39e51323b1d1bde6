import { Problem } from '../../domain/problem.js';
import {
  compileRanges,
  memoised,
  normaliseAddress,
  peerAddress,
  type RangeMatcher,
} from '../../lib/text/ip-address.js';
import type { RequestHeaders } from '../callback-request.js';
import {
  type AuthenticationFailure,
  type Authenticator,
  type Credential,
  compileAuthenticator,
} from './authenticate.js';
import { forwardingHeader } from './forwarding-header.js';

/** The settings of a source that decide who may send to it. */
export interface AccessRules {
  readonly credentials: Readonly<Record<string, Credential>>;
  readonly allow: readonly string[];
  /** `report` lets refused addresses pass and records what enforcement would have refused. */
  readonly allowMode: 'enforce' | 'report';
  readonly egress: EgressTable;
  /** CIDRs whose X-Forwarded-For is followed. */
  readonly trustedProxies: readonly string[];
}

/** The part of a request that the check reads. */
export interface AccessRequest {
  /** Address of the socket's peer. */
  readonly peer: string | undefined;
  readonly headers: RequestHeaders;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The decision, with its grounds for operators. */
export interface AccessDecision {
  /** The response to a refused request, with no more detail than the sender needs; null when access is granted. */
  readonly problem: Problem | null;
  /** Canonical; null when it cannot be read. */
  readonly clientIp: string | null;
  readonly region: string | null;
  /** The entry of `allow` that admitted the address. */
  readonly rule: string | null;
  /** Name of the credential that matched, also when it is expired or not valid yet. */
  readonly credential: string | null;
  readonly credentialFailure: AuthenticationFailure | null;
  /** In report mode the code with which `enforce` would have refused the address. */
  readonly wouldRefuse: 'address-refused' | 'address-unreadable' | null;
  /**
   * Whether the request most likely comes from the sender, even if it is refused: it has the secret of a credential, or comes from an
   * address that an entry other than `any` admits. Other requests must not affect the verdict on health.
   */
  readonly isFromSender: boolean;
}

/**
 * Checks the address, then the credential, of requests to one source. A source without credentials accepts no request
 * that was forwarded. The body is not needed.
 */
export type AccessCheck = (request: AccessRequest) => AccessDecision;

/** @throws an error that names the entries and header lines that cannot be read */
export function compileAccessCheck(options: AccessRules): AccessCheck {
  const clientAddress = compileClientAddress(options.trustedProxies);
  const allowlist = compileAllowlist(options.allow, options.egress);
  const authenticator = compileAuthenticator(options.credentials);
  const hasCredentials = Object.keys(options.credentials).length > 0;
  return (request) => {
    const { problem: refusal, clientIp, region, rule } = checkAddress(request, clientAddress, allowlist);
    if (refusal !== null && options.allowMode === 'enforce') {
      const nothing = { credential: null, credentialFailure: null, wouldRefuse: null };
      // With the right secret: the service has a new address, or a load balancer hides it.
      const isFromSender = hasCredentials && checkCredential(request, authenticator).credential !== null;
      return { problem: refusal, clientIp, region, rule, ...nothing, isFromSender };
    }
    const { problem, credential, credentialFailure } = hasCredentials
      ? checkCredential(request, authenticator)
      : checkDirect(request);
    const wouldRefuse = refusal === null ? null : (refusal.code as 'address-refused' | 'address-unreadable');
    const isFromSender = credential !== null || (rule !== null && rule !== ANY);
    return { problem, clientIp, region, rule, credential, credentialFailure, wouldRefuse, isFromSender };
  };
}

function checkAddress(request: AccessRequest, readAddress: ClientAddressReader, allowlist: Allowlist) {
  const client = readAddress(request.peer, request.headers['x-forwarded-for']);
  if ('unreadable' in client) {
    const problem = new Problem(
      'address-unreadable',
      `The client address cannot be read: ${client.unreadable}.`,
    );
    return { problem, clientIp: null, region: null, rule: null };
  }
  const { allowed, rule, region } = allowlist(client.address);
  const problem = allowed
    ? null
    : new Problem('address-refused', `The address ${client.address} is not on this source's allowlist.`);
  return { problem, clientIp: client.address, region, rule };
}

/**
 * Refuses forwarded requests to a source without credentials. There the address is the only evidence, and a forwarded request has the
 * address of its proxy: a proxy on the same host, a tunnel and a page in a local browser all come from loopback.
 */
function checkDirect(request: AccessRequest) {
  const found = forwardingHeader(request.headers);
  const problem =
    found === null
      ? null
      : new Problem('not-direct', `Without a credential this source accepts no request with ${found}.`);
  return { problem, credential: null, credentialFailure: null };
}

function checkCredential(request: AccessRequest, authenticator: Authenticator) {
  const result = authenticator(request.headers, request.now);
  if (result.ok) return { problem: null, credential: result.credential, credentialFailure: null };
  const detail =
    result.reason === 'repeated'
      ? 'A credential header occurs more than once.'
      : 'The credential is missing or wrong.';
  const problem = new Problem('credential-invalid', detail);
  return { problem, credential: result.credential, credentialFailure: result.reason };
}

/** The client's address in canonical form, or why it cannot be read. The reason is safe to show. */
type ClientAddress = { readonly address: string } | { readonly unreadable: string };

/** Finds the client behind trusted proxies. `forwardedFor` holds the values of all X-Forwarded-For lines in order. */
type ClientAddressReader = (
  peer: string | undefined,
  forwardedFor: readonly string[] | undefined,
) => ClientAddress;

/**
 * The client is the socket's peer. When the peer is a trusted proxy, the client is the first untrusted entry of X-Forwarded-For
 * from the right: each trusted proxy appends the address it saw, and anybody can write the entries left of those. Without
 * the header it is the peer; when every entry is trusted, the leftmost one. If an entry on the way is not an IP address, with or without
 * brackets and a port, the client is unreadable; empty entries are skipped.
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

/**
 * The address of an entry with brackets or a port. Azure's Application Gateway appends the client's port: `192.0.2.1:5555`,
 * `[2001:db8::1]:5555`. Some proxies write IPv6 in brackets without one, as RFC 7239 does. Brackets are for IPv6 alone.
 */
function bareAddress(entry: string): string {
  const [, inBrackets, plain, port] =
    /^(?:\[([^\][]*:[^\][]*)\]|([\d.]+)(?=:))(?::(\d{1,5}))?$/.exec(entry) ?? [];
  return Number(port ?? 0) > 65_535 ? entry : (inBrackets ?? plain ?? entry);
}

export function firstUntrusted(
  entries: readonly string[],
  isTrusted: (address: string) => boolean,
): ClientAddress {
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

/** Addresses and CIDRs that the service sends from, by region. */
export type EgressTable = Readonly<Record<string, readonly string[]>>;

/** The entry of `allow` that admits every address. */
const ANY = 'any';

interface AddressDecision {
  readonly allowed: boolean;
  /** The entry of `allow` that admitted the address, as configured; `any` only where no other entry does. */
  readonly rule: string | null;
  /** Region of the address, even if another rule admitted it. It later selects the API endpoint. */
  readonly region: string | null;
}

/** Checks one client address. A text that is not exactly one IP address is not allowed. */
type Allowlist = (address: string) => AddressDecision;

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
  return (text) => {
    const address = normaliseAddress(text);
    return address === null ? { allowed: false, rule: null, region: null } : decide(address);
  };
}

/** Finds the region of an address; the first one when two regions share the address. */
function compileEgress(egress: EgressTable): (address: string) => string | null {
  const matchers = Object.entries(egress).map(([region, ranges]) => [region, compileRanges(ranges)] as const);
  return (address) => matchers.find(([, matches]) => matches(address) !== null)?.[0] ?? null;
}

/** Sorts `any` last, so that it is the rule only when no other entry admits the address. */
function anyLast(one: string, other: string): number {
  return Number(one === ANY) - Number(other === ANY);
}

function compileRule(entry: string, egress: EgressTable): Rule {
  if (entry === ANY) return { entry, admits: () => true };
  if (Object.hasOwn(egress, entry)) return { entry, admits: (_, region) => region === entry };
  const matches: RangeMatcher = compileRanges([entry]);
  return { entry, admits: (address) => matches(address) !== null };
}
