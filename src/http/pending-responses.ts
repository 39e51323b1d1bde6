import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Follows the responses of a server's connections. */
export interface ResponseTracker {
  /** The responses of a connection that are not closed, oldest first. */
  pendingOf(connection: Duplex): readonly ServerResponse[];
  /** Adds a watcher. */
  watch(watcher: ResponseWatcher): void;
}

interface ResponseWatcher {
  /** Called before the app, which may have responded by the time a later listener is called. */
  began(connection: Duplex): void;
  /** Called when a response was sent or cut off, and is no longer pending. */
  ended(connection: Duplex, response: ServerResponse): void;
}

const trackers = new WeakMap<Server, ResponseTracker>();

/** The tracker of a server, which begins with the first call. */
export function trackResponses(server: Server): ResponseTracker {
  const tracker = trackers.get(server) ?? createTracker(server);
  trackers.set(server, tracker);
  return tracker;
}

function createTracker(server: Server): ResponseTracker {
  const pending = new WeakMap<Duplex, ServerResponse[]>();
  const watchers: ResponseWatcher[] = [];

  function responsesOf(connection: Duplex): ServerResponse[] {
    const known = pending.get(connection);
    if (known !== undefined) return known;
    const responses: ServerResponse[] = [];
    pending.set(connection, responses);
    return responses;
  }

  function begin({ socket }: IncomingMessage, response: ServerResponse): void {
    const responses = responsesOf(socket);
    responses.push(response);
    for (const watcher of watchers) watcher.began(socket);
    response.on('close', () => {
      responses.splice(responses.indexOf(response), 1);
      for (const watcher of watchers) watcher.ended(socket, response);
    });
  }

  // The events with which a server hands over a request.
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.prependListener(event, begin);
  return {
    pendingOf: (connection) => pending.get(connection) ?? [],
    watch: (watcher) => watchers.push(watcher),
  };
}
