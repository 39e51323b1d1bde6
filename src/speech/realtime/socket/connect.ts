import { type FailedAttempt, RealtimeConfigError, RealtimeConnectError } from '../realtime-error.js';
import type { RealtimeRegion } from '../realtime-region.js';
import { type EndpointOptions, type SessionAddress, sessionAddresses } from './endpoint.js';
import { type RealtimeSocket, type SocketConnector, type SocketRequest, UpgradeRefused } from './socket.js';

/** An API key goes into the upgrade header (servers); a temporary `rt` key into the address (browsers). */
export type RealtimeCredential = { readonly apiKey: string } | { readonly jwt: string };

interface ConnectOptions extends EndpointOptions {
  /** A function is called for every attempt, so that temporary keys can be fresh. */
  readonly credential: RealtimeCredential | (() => Promise<RealtimeCredential>);
  readonly connector: SocketConnector;
  /** Per attempt. */
  readonly handshakeTimeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface Connection {
  readonly socket: RealtimeSocket;
  readonly region: RealtimeRegion;
}

/**
 * Connects to the first region that accepts the connection. Only a failure that another region may not share (no
 * connection, time-out, 429, 5xx) moves on to the next one; a refused key is refused everywhere.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const attempts: FailedAttempt[] = [];
  let cause: unknown;
  for (const address of sessionAddresses(options)) {
    try {
      return { socket: await attempt(address, options), region: address.region };
    } catch (error) {
      options.signal?.throwIfAborted();
      if (error instanceof RealtimeConfigError) throw error;
      cause = error;
      attempts.push(describe(address.region, error));
      if (!isRegional(error)) throw new RealtimeConnectError(attempts, false, { cause });
    }
  }
  throw new RealtimeConnectError(attempts, true, { cause });
}

async function attempt(address: SessionAddress, options: ConnectOptions): Promise<RealtimeSocket> {
  const credential =
    typeof options.credential === 'function' ? await options.credential() : options.credential;
  const timeout = AbortSignal.timeout(options.handshakeTimeoutMs);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
  return options.connector(requestOf(address.url, credential, signal));
}

function requestOf(address: URL, credential: RealtimeCredential, signal: AbortSignal): SocketRequest {
  const key = 'apiKey' in credential ? credential.apiKey : credential.jwt;
  if (typeof key !== 'string' || !/^[\x21-\x7e]+$/.test(key)) {
    throw new RealtimeConfigError([
      { path: 'credential', expected: 'a key of printable ASCII without blanks' },
    ]);
  }
  if ('apiKey' in credential) return { url: address, headers: { authorization: `Bearer ${key}` }, signal };
  const url = new URL(address);
  url.searchParams.set('jwt', key);
  return { url, headers: {}, signal };
}

function isRegional(error: unknown): boolean {
  if (error instanceof TypeError) return false;
  return !(error instanceof UpgradeRefused) || error.status === 429 || error.status >= 500;
}

/** Messages of a platform can quote the address, and with it a key: only their codes are reported. */
function describe(region: RealtimeRegion, error: unknown): FailedAttempt {
  if (error instanceof UpgradeRefused) return { region, status: error.status, detail: error.message };
  const { name, code, message } = error as { name?: string; code?: string; message?: string };
  if (name === 'TimeoutError') return { region, status: null, detail: 'the handshake timed out' };
  if (error instanceof TypeError) return { region, status: null, detail: message ?? 'cannot connect' };
  return {
    region,
    status: null,
    detail: typeof code === 'string' ? `cannot connect (${code})` : 'cannot connect',
  };
}
