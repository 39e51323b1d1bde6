import { createServer, type Server } from 'node:http';
import type { Express } from 'express';
import { expressMessages } from '../receiver/http/express-messages.js';
import { headersCheckInterval } from '../receiver/http/headers-check-interval.js';

export interface AdminServerOptions {
  readonly keepAliveTimeout: number;
  readonly headersTimeout: number;
  readonly maxHeaderBytes: number;
}

/** A connection on which nothing moves for so long is given up; fetching a large recording may be silent for minutes. */
const IDLE = 600_000;

/** The HTTP server of the admin port. No total time-out: imports and downloads of many gigabytes take their time. */
export function createAdminServer(app: Express, options: AdminServerOptions): Server {
  const server = createServer(
    {
      ...expressMessages(app),
      requestTimeout: 0,
      headersTimeout: options.headersTimeout,
      connectionsCheckingInterval: headersCheckInterval(options.headersTimeout),
      keepAliveTimeout: options.keepAliveTimeout,
      maxHeaderSize: options.maxHeaderBytes,
    },
    app,
  );
  // Whoever watches connections listens to this event, and then Node no longer says 100 by itself.
  server.on('checkContinue', (request, response) => {
    response.writeContinue();
    app(request, response);
  });
  server.setTimeout(IDLE);
  return server;
}
