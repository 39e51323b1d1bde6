import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimitOptions {
  /** Most connections at a time. */
  readonly most: number;
  /** Whether an answered request shows that its sender is no stranger. */
  readonly isTrusted: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** A connection was closed to make room, or because there was none to make. */
  readonly onShed: () => void;
}

export interface ConnectionLimiter {
  readonly open: number;
}

interface Connection {
  /** Whether a request of a sender that is no stranger was answered on it. */
  trusted: boolean;
  /** Requests that are not answered whole, oldest first; empty while idle or in the middle of a head. */
  readonly exchanges: { readonly request: IncomingMessage; readonly response: ServerResponse }[];
}

/**
 * Keeps the number of a server's connections at `most`. Nobody has shown a credential by connecting, so a newcomer is
 * not refused for the sake of those that only wait: the one that has been idle, or in the middle of its head, for
 * longest is closed in its place, strangers before those whose requests were taken, then strangers that have their
 * refusal and still send. What is being received is never closed; when there is nothing else, the newcomer is.
 */
export function limitConnections(server: Server, options: ConnectionLimitOptions): ConnectionLimiter {
  const connections = new Map<Socket, Connection>();
  // Sets give their members in the order they were added: the first has waited longest.
  const idleStrangers = new Set<Socket>();
  const idleTrusted = new Set<Socket>();

  function forget(socket: Socket): void {
    connections.delete(socket);
    idleStrangers.delete(socket);
    idleTrusted.delete(socket);
  }

  function close(socket: Socket): void {
    // Counted out at once: its `close` comes only after connections that are being accepted in the same turn.
    forget(socket);
    socket.destroy();
    options.onShed();
  }

  function isRefusedStranger({ trusted, exchanges }: Connection): boolean {
    return (
      !trusted &&
      exchanges.every(
        ({ request, response }) => response.headersSent && !options.isTrusted(request, response),
      )
    );
  }

  function sheddable(): Socket | undefined {
    for (const idle of [idleStrangers, idleTrusted]) {
      for (const socket of idle) return socket;
    }
    for (const [socket, connection] of connections) if (isRefusedStranger(connection)) return socket;
    return undefined;
  }

  server.on('connection', (socket: Socket) => {
    if (connections.size >= options.most) {
      const victim = sheddable();
      if (victim === undefined) return close(socket);
      close(victim);
    }
    connections.set(socket, { trusted: false, exchanges: [] });
    idleStrangers.add(socket);
    socket.once('close', () => forget(socket));
  });

  function begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = connections.get(socket);
    if (connection === undefined) return;
    const exchange = { request, response };
    connection.exchanges.push(exchange);
    idleStrangers.delete(socket);
    idleTrusted.delete(socket);
    response.once('close', () => {
      connection.exchanges.splice(connection.exchanges.indexOf(exchange), 1);
      if (response.headersSent && options.isTrusted(request, response)) connection.trusted = true;
      if (connection.exchanges.length > 0 || !connections.has(socket)) return;
      (connection.trusted ? idleTrusted : idleStrangers).add(socket);
    });
  }

  // Before the app, which may have answered by the time a later listener is called.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.prependListener(event, begin);

  return {
    get open() {
      return connections.size;
    },
  };
}
