import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Express } from 'express';
import { Problem } from '../../domain/problem.js';
import { type ConnectionRequests, isDropped } from './connections/connection-requests.js';
import { joiningRequest } from './joining-request.js';
import { type OnMalformed, rejectConnect, rejectMalformedRequests } from './malformed-requests.js';
import { respondProblem } from './respond.js';

export interface CheckedServerOptions {
  /** Milliseconds; must exceed the idle time-out of every load balancer in front, which else responds 502 now and then. */
  readonly keepAliveTimeout: number;
  readonly headersTimeout: number;
  readonly maxHeaderBytes: number;
  /** Called for each request that is not valid HTTP/1.1. */
  readonly onMalformed?: OnMalformed;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * An HTTP server that answers requests which are not valid HTTP/1.1 with problem documents, and ignores requests to upgrade. Node's total
 * time-out for a request is off, because bodies of many gigabytes may take hours.
 *
 * @param onContinue a request that waits for 100 Continue before it sends its body
 */
export function createCheckedServer(
  app: Express,
  requests: ConnectionRequests,
  { keepAliveTimeout, headersTimeout, maxHeaderBytes, onMalformed = () => {} }: CheckedServerOptions,
  onContinue: Listener,
): Server {
  const checked = (listener: Listener) => withCheckedHead(withoutUpgrade(listener), onMalformed);
  const server = createServer(
    {
      ...requests.bound(joiningRequest(app)),
      requestTimeout: 0,
      headersTimeout,
      keepAliveTimeout,
      maxHeaderSize: maxHeaderBytes,
      connectionsCheckingInterval: headersCheckInterval(headersTimeout),
      // Checked by `withCheckedHead`, to respond with a problem document instead of Node's bare status line.
      requireHostHeader: false,
    },
    checked(app),
  );
  server.on('checkContinue', checked(onContinue));
  // Other expectations may be ignored (RFC 9110, 10.1.1); such a request is checked like any other.
  server.on('checkExpectation', checked(app));
  rejectMalformedRequests(server, requests, onMalformed);
  rejectConnect(server, requests, onMalformed);
  return server;
}

function withoutUpgrade(listener: Listener): Listener {
  return (request, response) => {
    // Node drops what follows such a request in the same segment. Closing shows the sender that it was not read.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    listener(request, response);
  };
}

/** How much of the body is drained when the head of a request is invalid. */
const DRAIN = { bytes: 64 * 1024, ms: 1000 };

/**
 * Ignores requests that are dropped, and rejects those that Node's parser accepts and HTTP/1.1 does not, before the listener sees
 * them.
 *
 * @param onMalformed called for each that is rejected
 */
function withCheckedHead(listener: Listener, onMalformed: OnMalformed): Listener {
  return (request, response) => {
    if (isDropped(request)) return;
    const fault = headFault(request);
    if (fault === null) return listener(request, response);
    const problem = new Problem('request-malformed', fault);
    onMalformed({ problem, reason: problem.code, peer: request.socket.remoteAddress });
    respondProblem(request, response, problem, DRAIN, true);
  };
}

/** What is wrong with a head. A proxy in front may have decided by the other Host, or by the target without its fragment. */
function headFault({ httpVersion, rawHeaders, url }: IncomingMessage): string | null {
  const hosts = countOfHosts(rawHeaders);
  if (hosts === 0 && httpVersion === '1.1') return 'An HTTP/1.1 request has to have a Host header.';
  if (hosts > 1) return 'A request has to have one Host header only.';
  return url?.includes('#') === true ? 'The target of a request must not contain a #.' : null;
}

/** Counts Host headers: `headers` of Node has only the first. */
function countOfHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

/**
 * Milliseconds between checks of connections whose headers are incomplete. Node's default is 30 s, so that a time-out of
 * 3 s could take up to 33.
 */
function headersCheckInterval(headersTimeout: number): number {
  return Math.min(1000, Math.ceil(headersTimeout / 10));
}
