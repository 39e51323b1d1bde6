import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Express } from 'express';
import { withCheckedHead } from '../lib/http/checked-head.js';
import type { ConnectionRequests } from '../lib/http/connections/connection-requests.js';
import { expressMessages } from '../lib/http/express-messages.js';
import { headersCheckInterval } from '../lib/http/headers-check-interval.js';
import { type OnMalformed, rejectConnect, rejectMalformedRequests } from '../lib/http/malformed-requests.js';
import { deferContinue } from './router.js';

export interface PublicServerOptions {
  /** Milliseconds; must exceed the idle time-out of every load balancer in front, which else responds 502 now and then. */
  readonly keepAliveTimeout: number;
  readonly headersTimeout: number;
  readonly maxHeaderBytes: number;
  /** Called for each request that is not valid HTTP/1.1. */
  readonly onMalformed?: OnMalformed;
}

/**
 * The HTTP server of the public port. Node's total time-out for a request is off, because an upload of many gigabytes may
 * take hours; the body reader enforces idle time-out, minimum rate and total time instead.
 */
export function createPublicServer(
  app: Express,
  requests: ConnectionRequests,
  options: PublicServerOptions,
): Server {
  const { onMalformed = () => {} } = options;
  const checked = (listener: Listener) => withoutUpgrade(listener, onMalformed);
  const server = createServer(
    {
      ...requests.bound(expressMessages(app)),
      requestTimeout: 0,
      headersTimeout: options.headersTimeout,
      connectionsCheckingInterval: headersCheckInterval(options.headersTimeout),
      // Checked by `withCheckedHead`, to respond with a problem document instead of Node's bare status line.
      requireHostHeader: false,
      keepAliveTimeout: options.keepAliveTimeout,
      maxHeaderSize: options.maxHeaderBytes,
      noDelay: true,
    },
    checked(app),
  );
  server.on('checkContinue', checked(deferContinue(app)));
  // Other expectations may be ignored (RFC 9110, 10.1.1); such a request is checked like any other.
  server.on('checkExpectation', checked(app));
  rejectMalformedRequests(server, requests, onMalformed);
  rejectConnect(server, requests, onMalformed);
  return allowHalfClosed(server);
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** Checks the head, and ignores a request to upgrade. */
function withoutUpgrade(listener: Listener, onMalformed: OnMalformed): Listener {
  return withCheckedHead((request, response) => {
    // Node drops what follows such a request in the same segment. Closing shows the sender that it was not read.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    listener(request, response);
  }, onMalformed);
}

/**
 * A client may close its side of the connection after a complete request and still read the response (RFC 9112, 9.6).
 * Node closes such connections unless this property is set, which every release has and no type declares. A body that was
 * incomplete by then is a parser error in any case.
 */
function allowHalfClosed(server: Server): Server {
  return Object.assign(server, { httpAllowHalfOpen: true });
}
