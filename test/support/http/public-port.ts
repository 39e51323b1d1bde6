import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Acknowledgement } from '../../../src/domain/delivery.js';
import type { CheckedServerOptions } from '../../../src/lib/http/checked-server.js';
import { ConnectionRequests } from '../../../src/lib/http/connections/connection-requests.js';
import type { CallbackRequest } from '../../../src/receive/callback-request.js';
import { mountHealth, type Readiness } from '../../../src/receive/health-routes.js';
import { createPublicServer } from '../../../src/receive/public-server.js';
import {
  type CallbackRoutes,
  createPublicApp,
  mountCallbacks,
  mountFallbacks,
  type ResponseOptions,
} from '../../../src/receive/router.js';
import { type RawClient, rawClient } from './raw-http.js';

/** The public port with a receiver of the test's own behind it: HTTP alone. */
export interface PublicPort {
  readonly server: Server;
  readonly url: string;
  /** Errors that were reported as bugs. */
  readonly unexpected: readonly unknown[];
  connect(): Promise<RawClient>;
  close(): Promise<void>;
}

export interface PublicPortOptions extends Partial<ResponseOptions>, Partial<CheckedServerOptions> {
  readonly receive?: (request: CallbackRequest) => Promise<Partial<Acknowledgement> | void>;
  readonly readiness?: () => Readiness;
}

const ACKNOWLEDGEMENT: Acknowledgement = {
  deliveryId: '01',
  jobId: 'j',
  status: 'success',
  outcome: 'noted',
  items: [],
};

export async function openPublicPort(options: PublicPortOptions = {}): Promise<PublicPort> {
  const { receive = async () => {}, readiness = () => ({ ready: true, reason: null }) } = options;
  const app = createPublicApp();
  const unexpected: unknown[] = [];
  const answering: ResponseOptions = {
    drain: { bytes: 1000, ms: 100 },
    draining: new AbortController().signal,
    onUnexpected: (error) => void unexpected.push(error),
    ...options,
  };
  mountHealth(app, readiness);
  const routes: CallbackRoutes = {
    ...answering,
    bodyLimits: { idleTimeout: 60_000, minBytesPerSecond: 0, minRateGrace: 60_000, totalTimeout: 60_000 },
    receiver: {
      receive: async (request) => ({ ...ACKNOWLEDGEMENT, ...(await receive(request)) }),
      misdirected: () => undefined,
    },
  };
  mountCallbacks(app, routes);
  mountFallbacks(app, routes);
  const server = createPublicServer(app, new ConnectionRequests(), {
    keepAliveTimeout: 600_000,
    headersTimeout: 60_000,
    maxHeaderBytes: 16_384,
    ...options,
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clients: RawClient[] = [];
  return {
    server,
    url,
    unexpected,
    async connect() {
      const client = await rawClient(url);
      clients.push(client);
      return client;
    },
    async close() {
      for (const client of clients) client.close();
      server.closeAllConnections();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}
