import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** The events with which a server hands over a request. */
export const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation'] as const;

/** The responses of a connection that are not complete: the oldest one first, which is the one being sent. */
export type PendingResponses = (connection: Duplex) => readonly ServerResponse[];

/** Keeps the responses of each connection until they are complete. Call it once for a server: each call costs every request. */
export function trackResponses(server: Server): PendingResponses {
  const latest = new WeakMap<Duplex, readonly ServerResponse[]>();
  const pendingOf = (connection: Duplex) =>
    (latest.get(connection) ?? []).filter(({ writableFinished }) => !writableFinished);

  function begin({ socket }: IncomingMessage, response: ServerResponse): void {
    latest.set(socket, latest.has(socket) ? [...pendingOf(socket), response] : [response]);
    // Else an idle connection would keep its last response, and the garbage collector promote it.
    response.on('close', () => {
      if (latest.get(socket)?.at(-1) === response) latest.delete(socket);
    });
  }

  // Before the app, which may have responded by the time a later listener is called.
  for (const event of REQUEST_EVENTS) server.prependListener(event, begin);
  return pendingOf;
}
