import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Config } from '../config/config.js';
import { type ConnectionMetrics, createConnectionLog, type Port } from '../observe/connection-metrics.js';
import type { Logger } from '../observe/logger.js';
import { connectionLimits, openFileLimit } from '../receiver/http/connection-limits.js';
import { limitConnections } from '../receiver/http/limit-connections.js';

export interface PortsToBound {
  readonly servers: Readonly<Record<Port, Server>>;
  readonly limits: Config['limits'];
  readonly metrics: ConnectionMetrics;
  readonly log: Logger;
}

/** Bounds the connections of both ports, counts and logs those that are closed for it. */
export function boundPorts({ servers, limits, metrics, log }: PortsToBound): { close(): void } {
  const openFiles = openFileLimit();
  const most = connectionLimits(limits, openFiles);
  if (most.public < limits.maxConnections) {
    const text = `the process may open ${openFiles} files: the public port takes ${most.public} connections at a time`;
    log.warn({ event: 'connections-bounded', openFiles, ...most }, text);
  }
  const connectionLog = createConnectionLog(log);
  for (const port of ['public', 'admin'] as const) {
    const bound = limitConnections(servers[port], {
      most: most[port],
      isTrusted: TRUSTED[port],
      onShed: () => {
        metrics.shed(port);
        connectionLog.shed(port, most[port]);
      },
    });
    metrics.watch(port, () => bound.open);
  }
  return { close: connectionLog.close };
}

const TRUSTED: Readonly<Record<Port, (request: IncomingMessage, response: ServerResponse) => boolean>> = {
  // Nothing but a callback that passed its source's checks is answered so; health is anybody's to ask.
  public: ({ method }, { statusCode }) => (method === 'POST' || method === 'PUT') && statusCode < 300,
  // Below it everything wants a token.
  admin: (request, { statusCode }) => statusCode < 400 && pathOf(request).startsWith('/admin/api/'),
};

/** Express cuts `url` down while a router is at work. */
function pathOf(request: IncomingMessage & { readonly originalUrl?: string }): string {
  return request.originalUrl ?? request.url ?? '';
}
