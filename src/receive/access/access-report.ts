import { compileRanges, parseRange, peerAddress, sharedBits } from '../../lib/text/ip-address.js';
import {
  type AccessCheck,
  type AccessDecision,
  type AccessRequest,
  type AccessRules,
  type EgressTable,
  firstUntrusted,
} from './access-check.js';
import { type CredentialAttempt, compileClosestCredential } from './authenticate.js';
import { forwardingHeader } from './forwarding-header.js';

/** The result of one check, and what to change so that it passes. */
export interface CheckReport {
  readonly gate: 'source' | 'address' | 'credential';
  readonly passed: boolean;
  readonly detail: string;
  /** What to change, as a line of configuration where one suffices; null when the check passed. */
  readonly toPass: string | null;
}

/** Reports every check of a source, even after one has failed. Never shows a secret. */
export type AccessReporter = (request: AccessRequest) => CheckReport[];

/** @param check the source's own check, whose decision is explained */
export function compileAccessReport(name: string, rules: AccessRules, check: AccessCheck): AccessReporter {
  const closest = compileClosestCredential(rules.credentials);
  const forwardedFor = explainForwardedFor(rules.trustedProxies);
  const ranges = rangesOf(rules.allow, rules.egress);
  return (request) => {
    const seen = forwardedFor(request.peer, request.headers['x-forwarded-for']);
    return [
      { gate: 'source', passed: true, detail: `the source ${name} is configured`, toPass: null },
      addressReport(name, rules, check(request), seen, ranges),
      credentialReport(name, closest(request.headers, request.now), request),
    ];
  };
}

/** The report for a name that no source has. */
export function unknownSourceReport(name: string, known: Iterable<string>): CheckReport[] {
  const names = [...known];
  return [
    {
      gate: 'source',
      passed: false,
      detail: `there is no source ${JSON.stringify(name.slice(0, 64))}; configured are ${names.join(', ') || 'none'}`,
      toPass: 'send to the callback path of a configured source, or add the source below sources',
    },
  ];
}

/** How X-Forwarded-For was used, to explain to operators which address counts. */
interface ForwardedFor {
  /** `ignored`: the peer is not a trusted proxy, so anybody could have written the header. `missing`: it is one, and sent none. */
  readonly header: 'absent' | 'missing' | 'ignored' | 'followed';
  /** Canonical address of the connection's peer; null when it is not an IP address. */
  readonly peer: string | null;
  /** The address that would count if the peer were trusted; null when it cannot be read. */
  readonly claimed: string | null;
}

type ForwardedForExplainer = (
  peer: string | undefined,
  forwardedFor: readonly string[] | undefined,
) => ForwardedFor;

/** Explains how the access check treats X-Forwarded-For with the same trusted proxies. */
function explainForwardedFor(trustedProxies: readonly string[]): ForwardedForExplainer {
  const trustedRange = compileRanges(trustedProxies);
  return (peerText, forwardedFor) => {
    const peer = peerAddress(peerText);
    const isTrusted = peer !== null && trustedRange(peer) !== null;
    if (forwardedFor === undefined) return { header: isTrusted ? 'missing' : 'absent', peer, claimed: null };
    const claim = firstUntrusted(
      forwardedFor.join(',').split(','),
      (address) => trustedRange(address) !== null,
    );
    const claimed = 'address' in claim ? claim.address : null;
    return { header: isTrusted ? 'followed' : 'ignored', peer, claimed };
  };
}

interface Range {
  readonly entry: string;
  readonly cidr: string;
}

/** The ranges that an allowlist admits, with the entry that each comes from. */
function rangesOf(allow: readonly string[], egress: EgressTable): Range[] {
  return allow.flatMap((entry) => {
    const ranges = egress[entry] ?? (entry === 'any' ? [] : [entry]);
    return ranges.flatMap((range) => {
      const parsed = parseRange(range);
      return 'fault' in parsed ? [] : [{ entry, cidr: parsed.cidr }];
    });
  });
}

function addressReport(
  name: string,
  { allow, allowMode }: AccessRules,
  { clientIp, region, rule, wouldRefuse }: AccessDecision,
  seen: ForwardedFor,
  ranges: readonly Range[],
): CheckReport {
  const ignored =
    seen.header === 'ignored' && seen.peer !== null
      ? `; X-Forwarded-For was ignored, because the peer ${seen.peer} is not in receiver.trustedProxies`
      : '';
  const gate = 'address';
  if (clientIp === null) {
    const detail = `the client address cannot be read${ignored}`;
    return { gate, passed: allowMode === 'report', detail, toPass: unreadableRemedy(seen) };
  }
  if (rule !== null) {
    return { gate, passed: true, detail: `${clientIp} is admitted by ${rule}${ignored}`, toPass: null };
  }
  const nearest = nearestRange(clientIp, ranges);
  const near = nearest === null ? '' : `; the nearest entry is ${nearest.entry} (${nearest.cidr})`;
  const reported = wouldRefuse === null ? '' : ', but allowMode is report, so it passes';
  return {
    gate,
    passed: wouldRefuse !== null,
    detail: `${clientIp} is not in sources.${name}.allow (${allow.join(', ') || 'empty'})${reported}${near}${ignored}`,
    toPass: addressRemedy(name, allow, { clientIp, region, seen }),
  };
}

function unreadableRemedy({ peer }: ForwardedFor): string {
  return peer === null
    ? 'give the IP address of the peer of the connection, without a port: every real request has one'
    : 'the trusted proxy has to put a plain IP address into X-Forwarded-For';
}

function addressRemedy(
  name: string,
  allow: readonly string[],
  { clientIp, region, seen }: { clientIp: string; region: string | null; seen: ForwardedFor },
): string {
  if (seen.header === 'ignored' && seen.claimed !== null && seen.peer !== null) {
    return `if ${seen.peer} is your load balancer: receiver.trustedProxies: [${seen.peer}]; then ${seen.claimed} counts`;
  }
  if (seen.header === 'missing')
    return `let ${seen.peer}, which receiver.trustedProxies holds, append X-Forwarded-For; in allow it would admit everyone behind it`;
  return `sources.${name}.allow: [${[...allow, region ?? clientIp].join(', ')}]`;
}

/** The entry that shares the most leading bits with the address; null when none shares eight. */
function nearestRange(address: string, ranges: readonly Range[]): Range | null {
  let nearest: { readonly range: Range; readonly bits: number } | null = null;
  for (const range of ranges) {
    const bits = sharedBits(address, range.cidr);
    if (bits !== null && bits > (nearest?.bits ?? 7)) nearest = { range, bits };
  }
  return nearest?.range ?? null;
}

function credentialReport(
  name: string,
  attempt: CredentialAttempt | null,
  request: AccessRequest,
): CheckReport {
  if (attempt === null) return noCredentialsReport(name, forwardingHeader(request.headers));
  const faults = attempt.headers.filter(({ found }) => found !== 'matches');
  if (faults.length > 0) return mismatchReport(name, attempt, faults);
  if (attempt.validity !== 'valid') return invalidNowReport(name, attempt);
  return { ...PASSED, detail: `the credential ${attempt.name} matches` };
}

const PASSED = { gate: 'credential', passed: true, toPass: null } as const;
const FAILED = { gate: 'credential', passed: false } as const;

function noCredentialsReport(name: string, forwardedBy: string | null): CheckReport {
  if (forwardedBy === null) return { ...PASSED, detail: 'the source has no credentials' };
  return {
    ...FAILED,
    detail: `the source has no credentials and accepts no request with ${forwardedBy}`,
    toPass: `sources.${name}.credentials: { main: { headers: ["X-Callback-Token: …"] } }`,
  };
}

function mismatchReport(
  name: string,
  attempt: CredentialAttempt,
  faults: CredentialAttempt['headers'],
): CheckReport {
  const each = faults.map(({ name: header, found }) => `${header} is ${found}`).join(', ');
  const matching = attempt.headers.length - faults.length;
  const also = matching === 0 ? '' : ` (${matching} of ${attempt.headers.length} headers match)`;
  return {
    ...FAILED,
    detail: `no credential matches; ${attempt.name} comes closest: ${each}${also}`,
    toPass: remedyOf(name, attempt.name, faults),
  };
}

/** For a credential that matches, but has expired or is not valid yet. */
function invalidNowReport(name: string, attempt: CredentialAttempt): CheckReport {
  const [setting, fault] =
    attempt.validity === 'expired'
      ? (['expires', 'expired at'] as const)
      : (['notBefore', 'is not valid before'] as const);
  return {
    ...FAILED,
    detail: `the credential ${attempt.name} matches, but ${fault} ${new Date(attempt[setting]).toISOString()}`,
    toPass: `change sources.${name}.credentials.${attempt.name}.${setting}, or submit the job with a credential that is valid`,
  };
}

function remedyOf(name: string, credential: string, faults: CredentialAttempt['headers']): string {
  const job = `in the job's auth_headers as notification-config ${name} prints them`;
  if (faults.some(({ found }) => found === 'repeated')) {
    return `send each header of ${credential} once; a proxy in front may add its own`;
  }
  if (faults.every(({ found }) => found === 'missing')) {
    return `put the headers of ${credential} ${job}; see that no proxy removes them`;
  }
  return `put the value of ${credential} ${job}, or add the sender's as a second credential below sources.${name}.credentials`;
}
