import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Express } from 'express';
import { withCheckedHead } from '../receiver/http/checked-head.js';
import { expressMessages } from '../receiver/http/express-messages.js';
import { headersCheckInterval } from '../receiver/http/headers-check-interval.js';
import { rejectConnect } from '../receiver/http/malformed-requests.js';
import type { AdminCertificate } from './admin-certificate.js';

export interface AdminServerOptions {
  readonly keepAliveTimeout: number;
  readonly headersTimeout: number;
  readonly maxHeaderBytes: number;
}

/** Milliseconds without traffic after which a connection is closed; fetching a large recording may be silent for minutes. */
const IDLE = 600_000;

/**
 * The HTTP server of the admin port. It has no total time-out, because imports and downloads may have many
 * gigabytes.
 *
 * @param certificate for HTTPS; null for plain HTTP
 */
export function createAdminServer(
  app: Express,
  options: AdminServerOptions,
  certificate: AdminCertificate | null,
): Server {
  const settings = {
    ...expressMessages(app),
    requestTimeout: 0,
    headersTimeout: options.headersTimeout,
    connectionsCheckingInterval: headersCheckInterval(options.headersTimeout),
    keepAliveTimeout: options.keepAliveTimeout,
    maxHeaderSize: options.maxHeaderBytes,
  };
  const listener = withCheckedHead(app);
  const server =
    certificate === null
      ? createServer(settings, listener)
      : openTls(listener, settings, options, certificate);
  // The connection limit listens to this event too, and with a listener Node does not send 100 by itself.
  server.on('checkContinue', (request, response) => {
    response.writeContinue();
    listener(request, response);
  });
  rejectConnect(server);
  server.setTimeout(IDLE);
  return server;
}

function openTls(
  listener: RequestListener,
  settings: object,
  { headersTimeout }: AdminServerOptions,
  certificate: AdminCertificate,
): Server {
  const server = createTlsServer(
    { ...settings, ...certificate.pair(), handshakeTimeout: headersTimeout },
    listener,
  );
  // Connections that are open keep the certificate that they began with.
  certificate.follow((pair) => server.setSecureContext(pair));
  return server;
}
