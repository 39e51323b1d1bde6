import type { Server } from 'node:http';
import type { Express } from 'express';
import { type CheckedServerOptions, createCheckedServer } from '../../lib/http/checked-server.js';
import type { ConnectionRequests } from '../../lib/http/connections/connection-requests.js';

/** Milliseconds without traffic after which a connection is closed; a refetch of a large recording may be silent for minutes. */
const IDLE = 600_000;

/** The HTTP server of the admin port. */
export function createAdminServer(
  app: Express,
  requests: ConnectionRequests,
  options: CheckedServerOptions,
): Server {
  const server = createCheckedServer(app, requests, options, (request, response) => {
    response.writeContinue();
    app(request, response);
  });
  server.setTimeout(IDLE);
  return server;
}
