import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Express } from 'express';
import { Problem } from '../../domain/problem.js';
import { expressMessages } from './express-messages.js';
import { headersCheckInterval } from './headers-check-interval.js';
import { rejectMalformedRequests } from './malformed-requests.js';
import { respondProblem } from './respond.js';
import { deferContinue } from './router.js';

export interface PublicServerOptions {
  /** Milliseconds; longer than the idle time-out of every balancer in front, or answers turn into 502. */
  readonly keepAliveTimeout: number;
  readonly headersTimeout: number;
  readonly maxHeaderBytes: number;
}

/**
 * The HTTP server of the public port. Node's own total time-out for a request is off: an honest upload of many
 * gigabytes may take hours, and the body clock judges idleness, rate and total time instead.
 */
export function createPublicServer(app: Express, options: PublicServerOptions): Server {
  const server = createServer(
    {
      ...expressMessages(app),
      requestTimeout: 0,
      headersTimeout: options.headersTimeout,
      connectionsCheckingInterval: headersCheckInterval(options.headersTimeout),
      // Without a Host it is refused below, with a problem document in the place of Node's bare status line.
      requireHostHeader: false,
      keepAliveTimeout: options.keepAliveTimeout,
      maxHeaderSize: options.maxHeaderBytes,
      noDelay: true,
    },
    withSoundHead(app),
  );
  server.on('checkContinue', withSoundHead(deferContinue(app)));
  // Other expectations may be ignored (RFC 9110, 10.1.1), and then nobody is answered before being looked at.
  server.on('checkExpectation', withSoundHead(app));
  rejectMalformedRequests(server);
  return answerHalfClosed(server);
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

/** How much of the body is read of a request that names no host. */
const DRAIN = { bytes: 64 * 1024, ms: 1000 };

/** Looks after what Node leaves to its users, or does without a word, before a request is looked at. */
function withSoundHead(listener: Listener): Listener {
  return (request, response) => {
    // Node drops what stands behind such a request in the same segment. Closing tells its sender that nobody saw it.
    if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      const problem = new Problem('request-malformed', 'An HTTP/1.1 request has to have a Host header.');
      respondProblem(request, response, problem, DRAIN, true);
    } else {
      listener(request, response);
    }
  };
}

/**
 * Who has sent a whole request may close its own side of the connection and still read the answer (RFC 9112, 9.6).
 * Node cuts such connections unless told otherwise by this property, which every release has and no type names.
 * A body that was not whole by then is an error of the parser either way.
 */
function answerHalfClosed(server: Server): Server {
  return Object.assign(server, { httpAllowHalfOpen: true });
}
