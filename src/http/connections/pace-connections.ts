import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionRequests } from './connection-requests.js';

/** Connections whose first requests are read in one turn of the event loop. */
const PER_TURN = 4;

/**
 * Reads the first requests of few connections in each turn of the event loop; the others are paused and read in the turns that follow.
 * One read of 64 KiB may hold 1,500 requests, which take milliseconds to parse: a thousand such connections would fill a turn
 * with seconds of work, and a callback needs about ten turns until it is durable.
 */
export function paceConnections(server: Server, requests: ConnectionRequests): void {
  /** Connections that sent no request yet. Sets iterate in insertion order. */
  const readable = new Set<Socket>();
  const paused = new Set<Socket>();
  let inTurn = 0;
  let isTurnEnding = false;

  function countOne(): void {
    inTurn += 1;
    if (isTurnEnding) return;
    isTurnEnding = true;
    setImmediate(endTurn);
  }

  function endTurn(): void {
    isTurnEnding = false;
    inTurn = 0;
    for (const socket of paused) {
      if (inTurn >= PER_TURN) return;
      paused.delete(socket);
      readable.add(socket);
      socket.resume();
      countOne();
    }
  }

  function pause(socket: Socket): void {
    readable.delete(socket);
    paused.add(socket);
    socket.pause();
  }

  requests.watch({
    began(connection: Duplex) {
      if (!readable.delete(connection as Socket)) return;
      countOne();
      if (inTurn >= PER_TURN) for (const socket of readable) pause(socket);
    },
    ended() {},
  });

  server.on('connection', (socket: Socket) => {
    readable.add(socket);
    if (paused.size > 0) pause(socket);
    socket.once('close', () => {
      readable.delete(socket);
      paused.delete(socket);
    });
  });
}
