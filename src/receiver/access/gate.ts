import type { Region } from '../../domain/job.js';
import { Problem } from '../../domain/problem.js';
import type { RequestHeaders } from '../request-headers.js';
import { type Allowlist, compileAllowlist, type EgressTable } from './allowlist.js';
import {
  type AuthenticationFailure,
  type Authenticator,
  type Credential,
  compileAuthenticator,
} from './authenticate.js';
import type { ClientAddressReader } from './client-address.js';
import { indirection } from './indirection.js';

/** What the gate of a source needs of its settings. */
export interface GateOptions {
  readonly credentials: Readonly<Record<string, Credential>>;
  readonly allow: readonly string[];
  /** `report` lets refused addresses pass and says what would have been refused. */
  readonly allowMode: 'enforce' | 'report';
  readonly egress: EgressTable;
  readonly clientAddress: ClientAddressReader;
}

/** A request as far as the gate looks at it. */
export interface Knock {
  /** Address of the socket's other end. */
  readonly peer: string | undefined;
  readonly headers: RequestHeaders;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What the gate decided, and everything an operator may want to know of why. */
export interface GateDecision {
  /** What to refuse the request with; null lets it in. Says to the sender no more than it must. */
  readonly problem: Problem | null;
  /** Canonical; null when it cannot be read. */
  readonly clientIp: string | null;
  readonly region: Region | null;
  /** The entry of `allow` that admitted the address. */
  readonly rule: string | null;
  /** Name of the credential that matched, also when it came at the wrong time. */
  readonly credential: string | null;
  readonly credentialFailure: AuthenticationFailure | null;
  /** In report mode: the code that enforcement would have refused the address with. */
  readonly wouldRefuse: 'address-refused' | 'address-unreadable' | null;
}

/** Checks address, then credential (where there is none: that nothing forwarded the request), of requests to one source; nothing of the body is needed for it. */
export type Gate = (knock: Knock) => GateDecision;

/** Compiles a source's gate. Throws naming entries and header lines it cannot read. */
export function compileGate(options: GateOptions): Gate {
  const allowlist = compileAllowlist(options.allow, options.egress);
  const authenticator = compileAuthenticator(options.credentials);
  const hasCredentials = Object.keys(options.credentials).length > 0;
  return (knock) => {
    const {
      problem: refusal,
      clientIp,
      region,
      rule,
    } = checkAddress(knock, options.clientAddress, allowlist);
    if (refusal !== null && options.allowMode === 'enforce') {
      const nothing = { credential: null, credentialFailure: null, wouldRefuse: null };
      return { problem: refusal, clientIp, region, rule, ...nothing };
    }
    const { problem, credential, credentialFailure } = hasCredentials
      ? checkCredential(knock, authenticator)
      : checkDirectness(knock);
    const wouldRefuse = refusal === null ? null : (refusal.code as 'address-refused' | 'address-unreadable');
    return { problem, clientIp, region, rule, credential, credentialFailure, wouldRefuse };
  };
}

function checkAddress(knock: Knock, readAddress: ClientAddressReader, allowlist: Allowlist) {
  const client = readAddress(knock.peer, knock.headers['x-forwarded-for']);
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
 * Without a credential the address is all there is to go by, and whatever forwards to us lends its own: a proxy on the
 * same host or a tunnel makes everybody loopback, and so does a page in a browser on this machine.
 */
function checkDirectness(knock: Knock) {
  const sign = indirection(knock.headers);
  const problem =
    sign === null
      ? null
      : new Problem('not-direct', `Without a credential this source takes no request that carries ${sign}.`);
  return { problem, credential: null, credentialFailure: null };
}

function checkCredential(knock: Knock, authenticator: Authenticator) {
  const result = authenticator(knock.headers, knock.now);
  if (result.ok) return { problem: null, credential: result.credential, credentialFailure: null };
  const detail =
    result.reason === 'repeated'
      ? 'A credential header occurs more than once.'
      : 'The credential is missing or wrong.';
  const problem = new Problem('credential-invalid', detail);
  return { problem, credential: result.credential, credentialFailure: result.reason };
}
