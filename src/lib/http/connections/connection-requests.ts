import { IncomingMessage, type ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Unanswered requests of one connection. Balancers send one at a time. */
const MAX_UNANSWERED = 8;

interface ResponseWatcher {
  /** Called before the app is. */
  began(connection: Duplex): void;
  /** Called when a response was sent or cut off, and is no longer pending. */
  ended(connection: Duplex, response: ServerResponse): void;
}

interface Connection {
  readonly pending: ServerResponse[];
  /** The request that came last, unless it was received and answered. */
  latest: IncomingMessage | null;
  /** Stands in for every further request once there were too many; null before. */
  dropped: DroppedRequest | null;
  /** The latest turn in which a response was sent, and how many were sent in it. */
  turn: number;
  answered: number;
}

/** Stands in for all requests of a connection that are not processed. Bytes of their bodies are discarded. */
class DroppedRequest extends IncomingMessage {
  #response: ServerResponse | null = null;

  get response(): ServerResponse {
    this.#response ??= new DroppedResponse(this);
    return this.#response;
  }

  override push(): boolean {
    return true;
  }
}

/** Response of a dropped request, which is never sent. Node adds listeners that will never be called. */
class DroppedResponse extends ServerResponse {
  override on(): this {
    return this;
  }
}

/**
 * Bounds and follows the requests of each connection of a server. A ninth request that comes while eight are unanswered ends the
 * connection after the eighth's response. It and those after it are dropped: listeners have to ask `isDropped`.
 *
 * Node's parser emits everything that one read of 64 KiB holds, some 1,500 small requests, whatever is paused meanwhile, and
 * keeps two objects for each until the connection closes: 3 MB. So all dropped requests of a connection share one pair.
 * Tests: `test/unit/lib/http/connections/connection-requests.test.ts`, `test/acceptance/floods.test.ts`.
 */
export class ConnectionRequests {
  readonly #connections = new WeakMap<Duplex, Connection>();
  readonly #watchers: ResponseWatcher[] = [];
  readonly #onFirst: ((connection: Duplex) => void)[] = [];
  /** Counts the turns of the event loop in which a response was sent. */
  #turn = 1;
  #isTurnEnding = false;

  /** The responses of a connection that are not closed, oldest first. */
  pendingOf(connection: Duplex): readonly ServerResponse[] {
    return this.#connections.get(connection)?.pending ?? [];
  }

  /** Whether the next byte of a connection belongs to the body of a request, answered or not. */
  isInBody(connection: Duplex): boolean {
    return this.#connections.get(connection)?.latest?.complete === false;
  }

  watch(watcher: ResponseWatcher): void {
    this.#watchers.push(watcher);
  }

  /** Calls the listener when a connection sends its first request. */
  watchFirst(listener: (connection: Duplex) => void): void {
    this.#onFirst.push(listener);
  }

  /** Classes to create a server with. A connection gets at most eight instances at a time. @param Request class of those requests */
  bound(Request = IncomingMessage): Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'> {
    // Node calls both with `new`, which gives it what they return.
    const newRequest = (socket: Socket): IncomingMessage => this.#drop(socket) ?? new Request(socket);
    const newResponse = (...parts: ConstructorParameters<typeof ServerResponse>): ServerResponse => {
      const [request] = parts;
      if (request instanceof DroppedRequest) return request.response;
      return this.#begin(new ServerResponse(...parts));
    };
    return {
      IncomingMessage: constructorOf(newRequest) as typeof IncomingMessage,
      ServerResponse: constructorOf(newResponse) as typeof ServerResponse,
    };
  }

  #connectionOf(socket: Duplex): Connection {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    const connection = { pending: [], latest: null, dropped: null, turn: 0, answered: 0 };
    this.#connections.set(socket, connection);
    for (const listener of this.#onFirst) listener(socket);
    return connection;
  }

  #begin(response: ServerResponse): ServerResponse {
    const { socket } = response.req;
    const connection = this.#connectionOf(socket);
    connection.pending.push(response);
    connection.latest = response.req;
    for (const watcher of this.#watchers) watcher.began(socket);
    response.on('close', () => {
      connection.pending.splice(connection.pending.indexOf(response), 1);
      if (connection.latest === response.req && response.req.complete) connection.latest = null;
      this.#countAnswer(connection);
      for (const watcher of this.#watchers) watcher.ended(socket, response);
    });
    return response;
  }

  #countAnswer(connection: Connection): void {
    if (connection.turn !== this.#turn) connection.answered = 0;
    connection.turn = this.#turn;
    connection.answered += 1;
    if (this.#isTurnEnding) return;
    this.#isTurnEnding = true;
    setImmediate(() => {
      this.#isTurnEnding = false;
      this.#turn += 1;
    });
  }

  /** The substitute for a request beyond the limit; null below the limit. */
  #drop(socket: Socket): DroppedRequest | null {
    const connection = this.#connectionOf(socket);
    if (connection.dropped !== null) return connection.dropped;
    const answered = connection.turn === this.#turn ? connection.answered : 0;
    if (connection.pending.length + answered < MAX_UNANSWERED) return null;
    connection.dropped = new DroppedRequest(socket);
    stopReading(socket);
    closeWithoutStacks(socket);
    endAfter(connection.pending.at(-1), socket);
    return connection.dropped;
  }
}

/** An arrow function cannot be called with `new`. */
function constructorOf<Parts extends unknown[]>(make: (...parts: Parts) => object): unknown {
  return function Message(...parts: Parts) {
    return make(...parts);
  };
}

/** @param response the last one of the connection; undefined when all were sent */
function endAfter(response: ServerResponse | undefined, socket: Socket): void {
  if (response === undefined) return socket.destroySoon();
  // Says `Connection: close` when it is not on its way already.
  response.shouldKeepAlive = false;
  response.once('close', () => socket.destroySoon());
}

/** Node resumes the socket at the end of every request that its parser emits. */
function stopReading(socket: Socket): void {
  socket.on('resume', () => socket.pause());
  socket.pause();
}

/**
 * When a connection closes, Node makes an error for each of its requests and responses: 3,000 for one that was flooded. Their stacks,
 * which nobody reads, took two thirds of its CPU, 10 ms.
 */
function closeWithoutStacks(socket: Socket): void {
  let limit = Error.stackTraceLimit;
  socket.prependListener('close', () => {
    limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
  });
  socket.on('close', () => {
    Error.stackTraceLimit = limit;
  });
}

/** True for what a listener of a server's requests must ignore. */
export function isDropped(request: IncomingMessage): boolean {
  return request instanceof DroppedRequest;
}
