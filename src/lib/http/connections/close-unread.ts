import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionRequests } from './connection-requests.js';

/** Bytes that the operating system took for a connection, and since when it took no more. */
interface Progress {
  readonly taken: number;
  readonly since: number;
}

const CHECK_EVERY = 250;

/** Responses whose clients may stop reading for a while. */
const pausable = new WeakSet<ServerResponse>();

/** Excepts a response from `closeUnread`: it has a time-out of its own. */
export function allowPauses(response: ServerResponse): void {
  pausable.add(response);
}

/**
 * Closes connections whose client reads nothing of a response for a time. What waits to be written is held in memory.
 *
 * @param after milliseconds without a byte read
 * @param options clock in milliseconds, and milliseconds between checks
 */
export function closeUnread(
  server: Server,
  requests: ConnectionRequests,
  after: number,
  { now = () => performance.now(), every = CHECK_EVERY } = {},
): void {
  const connections = new Map<Socket, Progress>();

  function check(): void {
    const instant = now();
    for (const [socket, { taken, since }] of connections) {
      const [response] = requests.pendingOf(socket);
      const current = socket.bytesWritten - socket.writableLength;
      const isWaiting = socket.writableLength > 0 && !(response !== undefined && pausable.has(response));
      if (!isWaiting || current !== taken) connections.set(socket, { taken: current, since: instant });
      else if (instant - since >= after) socket.destroy();
    }
  }

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { taken: 0, since: now() });
    socket.once('close', () => connections.delete(socket));
  });
  const timer = setInterval(check, every).unref();
  server.once('close', () => clearInterval(timer));
}
