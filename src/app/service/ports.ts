import type { Server } from 'node:http';
import type { Express } from 'express';
import type { Config } from '../../config/config.js';
import type { CheckedServerOptions } from '../../lib/http/checked-server.js';
import { closeUnread } from '../../lib/http/connections/close-unread.js';
import { connectionLimits, openFileLimit } from '../../lib/http/connections/connection-limits.js';
import { ConnectionRequests } from '../../lib/http/connections/connection-requests.js';
import { limitConnections } from '../../lib/http/connections/limit-connections.js';
import { paceConnections } from '../../lib/http/connections/pace-connections.js';
import { drainServer } from '../../lib/http/drain-server.js';
import { listen } from '../../lib/http/listen.js';
import { peerAddress } from '../../lib/text/ip-address.js';
import type { BoundedLog } from '../../observe/bounded-log.js';
import type { Logger } from '../../observe/logger.js';
import type { ConnectionMetrics, Port } from '../../observe/metrics/connection-metrics.js';
import type { DeliveryMetrics } from '../../observe/metrics/delivery-metrics.js';
import type { LogRefusal } from '../../observe/refusal-log.js';
import type { RefusalRing } from '../../observe/refusal-ring.js';
import { isSignedIn } from '../../operations/admin/admin-router.js';
import { createAdminServer } from '../../operations/admin/admin-server.js';
import type { MalformedSenderCheck } from '../../receive/access/sources.js';
import { createPublicServer } from '../../receive/public-server.js';
import { isAcceptedCallback } from '../../receive/router.js';
import type { ServiceLimits } from '../fixed-limits.js';

interface PortsOptions {
  readonly publicApp: Express;
  readonly adminApp: Express;
  readonly config: Pick<Config, 'receiver' | 'admin'>;
  readonly limits: ServiceLimits;
  readonly metrics: ConnectionMetrics;
  readonly deliveries: Pick<DeliveryMetrics, 'refused'>;
  readonly log: Logger;
  readonly bounded: Pick<BoundedLog, 'write'>;
  readonly logRefusal: LogRefusal;
  /** Ring for requests of senders to the public port that are not valid HTTP. */
  readonly refusals: Pick<RefusalRing, 'add'>;
  readonly isFromSender: MalformedSenderCheck;
}

interface PortAddresses {
  readonly publicUrl: string;
  readonly adminUrl: string;
}

export type Ports = ReturnType<typeof createPorts>;

/** The servers of both ports, with limited connections. */
export function createPorts(options: PortsOptions) {
  const { publicApp, adminApp, config, limits, deliveries, logRefusal, refusals } = options;
  const { receiver, admin } = config;
  const { keepAliveTimeout } = receiver;
  const requests = { public: new ConnectionRequests(), admin: new ConnectionRequests() };
  const serverOptions = (port: Port): CheckedServerOptions => ({
    ...limits,
    keepAliveTimeout,
    onMalformed({ problem, reason, peer }) {
      const clientIp = peerAddress(peer);
      const refused = { reason, source: null, clientIp };
      logRefusal({ ...refused, port, detail: problem.message });
      if (port === 'admin' || !options.isFromSender(reason, peer)) {
        return deliveries.refused(problem.code, null, 'unknown');
      }
      deliveries.refused(problem.code, null);
      const at = new Date().toISOString();
      refusals.add(
        { ...refused, at, cause: null, userAgent: null, peer: clientIp, forwardedFor: null },
        true,
      );
    },
  });
  const servers: Readonly<Record<Port, Server>> = {
    public: createPublicServer(publicApp, requests.public, serverOptions('public')),
    admin: createAdminServer(adminApp, requests.admin, serverOptions('admin')),
  };
  limitBoth(servers, requests, options);
  let opening: Promise<PortAddresses> | null = null;

  async function openBoth(): Promise<PortAddresses> {
    return {
      publicUrl: await listen(servers.public, { ...receiver, section: 'receiver', variable: 'TR_PORT' }),
      adminUrl: await listen(servers.admin, { ...admin, section: 'admin', variable: 'TR_ADMIN_PORT' }),
    };
  }

  return {
    /** Rejects when a port cannot be opened. */
    open(): Promise<PortAddresses> {
      opening = openBoth();
      return opening;
    },
    /** Waits until `open` has settled; resolves to whether the public port is open. */
    async whenSettled(): Promise<boolean> {
      await opening?.catch(() => undefined);
      return servers.public.listening;
    },
    /** Accepts no new connections; closes the rest when `deadline` settles. Resolves when no connection is left. */
    drain: (port: Port, deadline: Promise<unknown>) => drainServer(servers[port], deadline),
  };
}

/** Limits the connections of both ports; counts and logs the connections that are shed. */
function limitBoth(
  servers: Readonly<Record<Port, Server>>,
  requests: Readonly<Record<Port, ConnectionRequests>>,
  { limits, metrics, log, bounded }: PortsOptions,
): void {
  const openFiles = openFileLimit();
  const most = connectionLimits(limits, openFiles);
  if (most.public < limits.maxConnections) {
    const text = `the process may open ${openFiles} files: the public port takes ${most.public} connections at a time`;
    log.warn({ event: 'connections-bounded', openFiles, ...most }, text);
  }
  for (const port of ['public', 'admin'] as const) {
    paceConnections(servers[port], requests[port]);
    closeUnread(servers[port], requests[port], limits.unreadTimeout);
    const limited = limitConnections(servers[port], requests[port], {
      maxConnections: most[port],
      isTrusted: TRUSTED[port],
      onShed: () => {
        metrics.shed(port);
        const text = `${most[port]} connections are open: one was closed`;
        const fields = { event: 'connection-shed', port, most: most[port] };
        bounded.write(`connection-shed ${port}`, () => log.warn(fields, text));
      },
    });
    metrics.watch(port, () => limited.open);
  }
}

const TRUSTED = { public: isAcceptedCallback, admin: isSignedIn } as const;
