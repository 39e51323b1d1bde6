import { createServer, type Server } from 'node:http';
import type { Express } from 'express';
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
      requestTimeout: 0,
      headersTimeout: options.headersTimeout,
      keepAliveTimeout: options.keepAliveTimeout,
      maxHeaderSize: options.maxHeaderBytes,
      noDelay: true,
    },
    app,
  );
  server.on('checkContinue', deferContinue(app));
  return server;
}
