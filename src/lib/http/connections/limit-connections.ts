import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionRequests } from './connection-requests.js';

interface ConnectionLimitOptions {
  readonly maxConnections: number;
  /** Whether the response to a request shows that its sender authenticated. */
  readonly isTrusted: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** A connection was closed to make room, or because there was no other to close. */
  readonly onShed: () => void;
}

export interface ConnectionLimiter {
  readonly open: number;
}

/**
 * Limits the number of a server's open connections. A connection alone proves nothing, so a new one is preferred to
 * those that only wait. To make room, the connection is closed that has been idle, or in the middle of a head, for longest:
 * unauthenticated ones first, then authenticated ones, then unauthenticated ones that were refused and still send. A
 * connection with a delivery in flight is never closed; when all have one, the new connection is closed.
 */
export function limitConnections(
  server: Server,
  requests: ConnectionRequests,
  options: ConnectionLimitOptions,
): ConnectionLimiter {
  // Sets iterate in insertion order: the first has waited longest.
  const connections = new Set<Duplex>();
  const idleUntrusted = new Set<Duplex>();
  const idleTrusted = new Set<Duplex>();
  /** Connections on which an authenticated request was answered. */
  const trusted = new WeakSet<Duplex>();

  function forget(socket: Duplex): void {
    connections.delete(socket);
    idleUntrusted.delete(socket);
    idleTrusted.delete(socket);
  }

  function close(socket: Duplex): void {
    // Removed at once: its `close` event comes after further connections of the same turn.
    forget(socket);
    socket.destroy();
    options.onShed();
  }

  function showsTrust(response: ServerResponse): boolean {
    return response.headersSent && options.isTrusted(response.req, response);
  }

  function isRefused(socket: Duplex): boolean {
    if (trusted.has(socket)) return false;
    return requests.pendingOf(socket).every((response) => response.headersSent && !showsTrust(response));
  }

  function longestIdle(): Duplex | undefined {
    for (const idle of [idleUntrusted, idleTrusted]) {
      for (const socket of idle) return socket;
    }
    for (const socket of connections) if (isRefused(socket)) return socket;
    return undefined;
  }

  server.on('connection', (socket: Socket) => {
    if (connections.size >= options.maxConnections) {
      const idle = longestIdle();
      if (idle === undefined) return close(socket);
      close(idle);
    }
    connections.add(socket);
    idleUntrusted.add(socket);
    socket.once('close', () => forget(socket));
  });

  requests.watch({
    began(socket) {
      idleUntrusted.delete(socket);
      idleTrusted.delete(socket);
    },
    ended(socket, response) {
      if (!connections.has(socket)) return;
      if (showsTrust(response)) trusted.add(socket);
      if (requests.pendingOf(socket).length === 0)
        (trusted.has(socket) ? idleTrusted : idleUntrusted).add(socket);
    },
  });

  return {
    get open() {
      return connections.size;
    },
  };
}
