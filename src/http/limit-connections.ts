import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { REQUEST_EVENTS } from './pending-responses.js';

export interface ConnectionLimitOptions {
  /** Most connections at a time. */
  readonly most: number;
  /** Whether the response to a request shows that its sender authenticated. */
  readonly isTrusted: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** A connection was closed to make room, or because there was no other to close. */
  readonly onShed: () => void;
}

export interface ConnectionLimiter {
  readonly open: number;
}

interface Connection {
  /** Whether an authenticated request was answered on it. */
  trusted: boolean;
  /** Responses that are not complete, oldest first; empty while idle or in the middle of a head. */
  readonly responses: ServerResponse[];
}

/**
 * Limits the number of a server's connections to `most`. A connection alone proves nothing, so a new one is preferred to
 * those that only wait. To make room, the connection is closed that has been idle, or in the middle of a head, for longest:
 * unauthenticated ones first, then authenticated ones, then unauthenticated ones that were refused and still send. A
 * connection with a delivery in flight is never closed; when all have one, the new connection is closed.
 */
export function limitConnections(server: Server, options: ConnectionLimitOptions): ConnectionLimiter {
  const connections = new Map<Socket, Connection>();
  // Sets iterate in insertion order: the first has waited longest.
  const idleUntrusted = new Set<Socket>();
  const idleTrusted = new Set<Socket>();

  function forget(socket: Socket): void {
    connections.delete(socket);
    idleUntrusted.delete(socket);
    idleTrusted.delete(socket);
  }

  function close(socket: Socket): void {
    // Removed at once: its `close` event comes after connections that are accepted in the same turn.
    forget(socket);
    socket.destroy();
    options.onShed();
  }

  function showsTrust(response: ServerResponse): boolean {
    return response.headersSent && options.isTrusted(response.req, response);
  }

  function isRefused({ trusted, responses }: Connection): boolean {
    return !trusted && responses.every((response) => response.headersSent && !showsTrust(response));
  }

  function longestIdle(): Socket | undefined {
    for (const idle of [idleUntrusted, idleTrusted]) {
      for (const socket of idle) return socket;
    }
    for (const [socket, connection] of connections) if (isRefused(connection)) return socket;
    return undefined;
  }

  server.on('connection', (socket: Socket) => {
    if (connections.size >= options.most) {
      const idle = longestIdle();
      if (idle === undefined) return close(socket);
      close(idle);
    }
    connections.set(socket, { trusted: false, responses: [] });
    idleUntrusted.add(socket);
    socket.once('close', () => forget(socket));
  });

  function begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connection.responses.push(response);
    idleUntrusted.delete(socket);
    idleTrusted.delete(socket);
    response.on('close', () => end(socket, connection, response));
  }

  function end(socket: Socket, connection: Connection, response: ServerResponse): void {
    if (connections.get(socket) !== connection) return;
    connection.responses.splice(connection.responses.indexOf(response), 1);
    if (showsTrust(response)) connection.trusted = true;
    if (connection.responses.length === 0) (connection.trusted ? idleTrusted : idleUntrusted).add(socket);
  }

  // Before the app, which may have responded by the time a later listener is called.
  for (const event of REQUEST_EVENTS) server.prependListener(event, begin);

  return {
    get open() {
      return connections.size;
    },
  };
}
