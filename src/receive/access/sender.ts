import { Problem } from '../../domain/problem.js';
import { peerAddress } from '../../lib/text/ip-address.js';
import type { CallbackRequest } from '../callback-request.js';
import type { AuthenticationFailure } from './authenticate.js';
import type { Source } from './sources.js';

/** The caller of a request whose address and credential were accepted. */
export interface Sender {
  readonly source: Source;
  /** Null only in report mode, when the address cannot be read. */
  readonly clientIp: string | null;
  readonly region: string | null;
  /** Name of the credential that matched; null for a source without credentials. */
  readonly credential: string | null;
  /** In report mode: the code that enforcement would have refused the address with. */
  readonly wouldRefuse: string | null;
}

/** The caller of a request that was refused before it authenticated, as far as it is known. */
export interface UnauthenticatedCaller {
  readonly problem: Problem;
  /** Null when no source of the requested name is configured. */
  readonly source: string | null;
  readonly clientIp: string | null;
  /** For operators only: the response tells the sender no more than it must. */
  readonly cause: AuthenticationFailure | null;
  /** Whether it is most likely the speech service all the same. */
  readonly isFromSender: boolean;
}

/** The caller of a request to none of the sources. */
export function callerOfNoSource(
  sources: ReadonlyMap<string, Source>,
  { peer, headers }: Pick<CallbackRequest, 'peer' | 'headers'>,
  problem: Problem,
): UnauthenticatedCaller {
  const access = { peer, headers, now: Date.now() };
  const isFromSender = [...sources.values()].some(({ checkAccess }) => checkAccess(access).isFromSender);
  return { problem, source: null, clientIp: peerAddress(peer), cause: null, isFromSender };
}

/** Checks source, address and credential, in this order. */
export function authenticateSender(
  sources: ReadonlyMap<string, Source>,
  request: CallbackRequest,
): Sender | UnauthenticatedCaller {
  const access = { peer: request.peer, headers: request.headers, now: Date.now() };
  const source = sources.get(request.sourceName);
  if (source === undefined) {
    const problem = new Problem('source-unknown', 'No source of that name is configured here.');
    return callerOfNoSource(sources, request, problem);
  }
  const { problem, clientIp, region, credential, credentialFailure, wouldRefuse, isFromSender } =
    source.checkAccess(access);
  if (problem !== null) {
    return { problem, source: source.name, clientIp, cause: credentialFailure, isFromSender };
  }
  return { source, clientIp, region, credential, wouldRefuse };
}
