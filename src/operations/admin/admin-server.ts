import { createServer, type Server } from 'node:http';
import type { Express } from 'express';
import { withCheckedHead } from '../../lib/http/checked-head.js';
import type { ConnectionRequests } from '../../lib/http/connections/connection-requests.js';
import { isDropped } from '../../lib/http/connections/dropped-messages.js';
import { expressMessages } from '../../lib/http/express-messages.js';
import { headersCheckInterval } from '../../lib/http/headers-check-interval.js';
import { rejectConnect } from '../../lib/http/malformed-requests.js';

export interface AdminServerOptions {
  readonly keepAliveTimeout: number;
  readonly headersTimeout: number;
  readonly maxHeaderBytes: number;
}

/** Milliseconds without traffic after which a connection is closed; fetching a large recording may be silent for minutes. */
const IDLE = 600_000;

/** The HTTP server of the admin port. It has no total time-out, because imports and downloads may have many gigabytes. */
export function createAdminServer(
  app: Express,
  requests: ConnectionRequests,
  options: AdminServerOptions,
): Server {
  const settings = {
    ...requests.bound(expressMessages(app)),
    requestTimeout: 0,
    headersTimeout: options.headersTimeout,
    connectionsCheckingInterval: headersCheckInterval(options.headersTimeout),
    keepAliveTimeout: options.keepAliveTimeout,
    maxHeaderSize: options.maxHeaderBytes,
  };
  const listener = withCheckedHead(app);
  const server = createServer(settings, listener);
  // The connection limit listens to this event too, and with a listener Node does not send 100 by itself.
  server.on('checkContinue', (request, response) => {
    if (isDropped(request)) return;
    response.writeContinue();
    listener(request, response);
  });
  rejectConnect(server, requests);
  server.setTimeout(IDLE);
  return server;
}
