import type { Server } from 'node:http';
import type { Express } from 'express';
import { type CheckedServerOptions, createCheckedServer } from '../lib/http/checked-server.js';
import type { ConnectionRequests } from '../lib/http/connections/connection-requests.js';
import { deferContinue } from './router.js';

/** The HTTP server of the public port. The body reader enforces idle time-out, minimum rate and total time of a request. */
export function createPublicServer(
  app: Express,
  requests: ConnectionRequests,
  options: CheckedServerOptions,
): Server {
  return allowHalfClosed(createCheckedServer(app, requests, options, deferContinue(app)));
}

/**
 * A client may close its side of the connection after a complete request and still read the response (RFC 9112, 9.6).
 * Node closes such connections unless this property is set, which every release has and no type declares. If the body was
 * incomplete, the parser reports an error in any case.
 */
function allowHalfClosed(server: Server): Server {
  return Object.assign(server, { httpAllowHalfOpen: true });
}
