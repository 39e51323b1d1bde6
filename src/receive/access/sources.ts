import type { Problem } from '../../domain/problem.js';
import { OTHER_PROTOCOL_REASONS, type ReasonCode } from '../../domain/reasons.js';
import { parseHeaderLine } from '../../lib/text/header-line.js';
import { compileRanges, peerAddress } from '../../lib/text/ip-address.js';
import type { CallbackRequest } from '../callback-request.js';
import { type AccessCheck, type AccessRules, compileAccessCheck, type EgressTable } from './access-check.js';
import { type AccessReporter, compileAccessReport } from './access-report.js';
import type { AuthenticationFailure } from './authenticate.js';

/** A named callback endpoint with its settings. */
export interface Source {
  readonly name: string;
  readonly checkAccess: AccessCheck;
  /** Explains the check to operators. */
  readonly reportAccess: AccessReporter;
  /** Lower-case names of the headers that carry credentials, of any source. */
  readonly credentialHeaders: ReadonlySet<string>;
  /** Kind of a body that is not multipart when the query does not name it: tokens of `contents`. */
  readonly contents: readonly string[];
  /** Names of the submitter's parameters that are kept. */
  readonly context: readonly string[];
  readonly maxBytes: number;
  /** Empty, or ending in `/`. */
  readonly keyPrefix: string;
}

/** How bodies of a source are decoded and stored. */
export type SourceContent = Pick<Source, 'contents' | 'context' | 'maxBytes' | 'keyPrefix'>;

type SourceSettings = Pick<AccessRules, 'credentials' | 'allow' | 'allowMode'> & SourceContent;

/** Compiles all sources, once at start. @throws an error that names what cannot be parsed */
export function createSources(
  settings: Readonly<Record<string, SourceSettings>>,
  egress: EgressTable,
  trustedProxies: readonly string[],
): ReadonlyMap<string, Source> {
  const secretHeaders = credentialHeaders(Object.values(settings));
  return new Map(
    Object.entries(settings).map(([name, { contents, context, maxBytes, keyPrefix, ...access }]) => {
      const rules = { ...access, egress, trustedProxies };
      const checkAccess = compileAccessCheck(rules);
      const reportAccess = compileAccessReport(name, rules, checkAccess);
      const source = { name, checkAccess, reportAccess, contents, context, maxBytes, keyPrefix };
      return [name, { ...source, credentialHeaders: secretHeaders }];
    }),
  );
}

/** The credential headers of all sources: a request to the wrong source may carry the credential of another. */
function credentialHeaders(sources: readonly SourceSettings[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { headers } of sources.flatMap(({ credentials }) => Object.values(credentials))) {
    for (const line of headers) {
      const parsed = parseHeaderLine(line);
      if ('name' in parsed) names.add(parsed.name);
    }
  }
  return names;
}

/** The caller of a request whose address and credential were accepted. */
export interface Sender {
  readonly source: Source;
  /** Null only in report mode, when the address cannot be read. */
  readonly clientIp: string | null;
  readonly region: string | null;
  /** Name of the credential that matched; null for a source without credentials. */
  readonly credential: string | null;
  /** In report mode the code with which `enforce` would have refused the address. */
  readonly wouldRefuse: string | null;
}

/** The caller of a request that was refused before or during authentication, as far as it is known. */
export interface UnauthenticatedCaller {
  readonly problem: Problem;
  /** Null when no source of the requested name is configured. */
  readonly source: string | null;
  readonly clientIp: string | null;
  /** Only for operators: the response contains no more detail than the sender needs. */
  readonly cause: AuthenticationFailure | null;
  /** Whether the caller is nevertheless most likely the speech service. */
  readonly isFromSender: boolean;
}

/** The caller of a request that reaches no source because of its path or method. */
export function misdirectedCaller(
  sources: ReadonlyMap<string, Source>,
  { sourceName, peer, headers }: Pick<CallbackRequest, 'sourceName' | 'peer' | 'headers'>,
  problem: Problem,
): UnauthenticatedCaller {
  const access = { peer, headers, now: Date.now() };
  const source = sources.get(sourceName);
  if (source !== undefined) {
    const { clientIp, isFromSender } = source.checkAccess(access);
    return { problem, source: source.name, clientIp, cause: null, isFromSender };
  }
  const isFromSender = [...sources.values()].some(({ checkAccess }) => checkAccess(access).isFromSender);
  return { problem, source: null, clientIp: peerAddress(peer), cause: null, isFromSender };
}

/**
 * Whether a request that is not valid HTTP most likely comes from the sender: an entry other than `any` admits its address. A trusted proxy
 * forwards requests of anybody, but its own settings choose what else than HTTP/1.1 it speaks. A connection without a request may be a probe.
 */
export type MalformedSenderCheck = (reason: ReasonCode, peer: string | undefined) => boolean;

export function compileMalformedSender(
  sources: ReadonlyMap<string, Source>,
  trustedProxies: readonly string[],
): MalformedSenderCheck {
  const trustedRange = compileRanges(trustedProxies);
  return (reason, peer) => {
    const address = peerAddress(peer);
    if (address === null || reason === 'head-too-slow') return false;
    if (trustedRange(address) !== null) return OTHER_PROTOCOL_REASONS.includes(reason);
    const access = { peer, headers: {}, now: Date.now() };
    return [...sources.values()].some(({ checkAccess }) => checkAccess(access).isFromSender);
  };
}
