import { Problem, type ProblemCode } from '../domain/problem.js';
import type { Allowlist } from './allowlist.js';
import type { Authenticator } from './authenticate.js';
import type { CallbackRequest } from './callback-request.js';
import type { ClientAddressReader } from './client-address.js';

/** A named callback endpoint, ready to judge who calls it. */
export interface Source {
  readonly name: string;
  readonly allowlist: Allowlist;
  readonly allowMode: 'enforce' | 'report';
  readonly authenticator: Authenticator;
  /** What a job of this source is expected to send, when the query does not say it. */
  readonly contents: readonly string[];
  readonly maxBytes: number;
  readonly keyPrefix: string;
}

/** Who is calling, after address and credential were accepted. */
export interface Sender {
  readonly source: Source;
  readonly clientIp: string;
  readonly region: string | null;
  /** Name of the credential that matched; null for a source without credentials. */
  readonly credential: string | null;
  /** In report mode: what enforcement would have said about the address. */
  readonly wouldRefuse: string | null;
}

/** A refusal of somebody who did not authenticate: counted and shown, never written to the store. */
export interface StrangerRefused {
  readonly code: ProblemCode;
  readonly source: string | null;
  readonly clientIp: string | null;
  readonly detail: string;
}

/** Source, then address, then credential; each failure is a Problem by the answer table. */
export function checkSender(
  sources: ReadonlyMap<string, Source>,
  readClientAddress: ClientAddressReader,
  request: CallbackRequest,
): Sender {
  const source = sources.get(request.sourceName);
  if (source === undefined) throw new Problem('source-unknown', 'No source of that name is configured here.');
  const address = checkAddress(source, readClientAddress, request);
  const credential = source.authenticator.authenticate(request.headers);
  if (!credential.ok) throw new Problem('credential-invalid', credential.detail);
  return { source, ...address, credential: credential.name };
}

function checkAddress(
  source: Source,
  readClientAddress: ClientAddressReader,
  request: CallbackRequest,
): Pick<Sender, 'clientIp' | 'region' | 'wouldRefuse'> {
  const address = readClientAddress(request.peer, request.headers['x-forwarded-for'] ?? []);
  if (!address.ok) throw new Problem('address-unreadable', address.detail);
  const verdict = source.allowlist.check(address.ip);
  const known = { clientIp: address.ip, region: verdict.region };
  if (verdict.allowed) return { ...known, wouldRefuse: null };
  if (source.allowMode === 'report') return { ...known, wouldRefuse: 'address-refused' };
  throw new Problem('address-refused', 'Callbacks from this address are not allowed for this source.');
}
