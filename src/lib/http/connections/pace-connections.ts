import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ConnectionRequests } from './connection-requests.js';

/** Connections whose first requests are read in one turn of the event loop. */
const PER_TURN = 2;
/** Turns that only accept, as long as each of them does, before one reads as well. */
const ACCEPTING_TURNS = 8;

/**
 * Reads the first requests of few connections in each turn of the event loop; the others are paused and read in the turns that follow.
 * One read of 64 KiB may hold 1,500 requests, which take milliseconds to parse: a thousand such connections would fill a turn
 * with seconds of work, and a callback needs about ten turns until it is durable.
 *
 * A turn accepts one connection, and the system hands them out in the order of their arrival: while each turn brings one, accepting goes
 * first, or a callback would wait behind all of a flood. The newest and the oldest waiting one go in turn, so that each is read.
 */
export function paceConnections(server: Server, requests: ConnectionRequests): void {
  /** Connections that are read and sent no request yet. */
  const readable = new Set<Socket>();
  /** Waiting connections in the order of their arrival. */
  const paused: Socket[] = [];
  let begun = 0;
  let hasAccepted = false;
  let acceptingTurns = ACCEPTING_TURNS;
  let isTurnEnding = false;

  function endTurnLater(): void {
    if (isTurnEnding) return;
    isTurnEnding = true;
    setImmediate(endTurn);
  }

  function endTurn(): void {
    isTurnEnding = false;
    begun = 0;
    if (hasAccepted && acceptingTurns < ACCEPTING_TURNS) acceptingTurns += 1;
    else readSome();
    hasAccepted = false;
    if (paused.length > 0) endTurnLater();
  }

  function readSome(): void {
    acceptingTurns = 0;
    for (let resumed = 0; resumed < PER_TURN; ) {
      const socket = resumed === 0 ? paused.pop() : paused.shift();
      if (socket === undefined) return;
      if (socket.destroyed) continue;
      readable.add(socket);
      socket.resume();
      resumed += 1;
    }
  }

  function pause(socket: Socket): void {
    readable.delete(socket);
    socket.pause();
    paused.push(socket);
    endTurnLater();
  }

  requests.watchFirst((connection: Duplex) => {
    if (!readable.delete(connection as Socket)) return;
    begun += 1;
    endTurnLater();
    if (begun >= PER_TURN) for (const socket of readable) pause(socket);
  });

  server.on('connection', (socket: Socket) => {
    hasAccepted = true;
    // Not at once: Node begins to read after the listeners of the event.
    process.nextTick(pause, socket);
    socket.once('close', () => readable.delete(socket));
  });
}
