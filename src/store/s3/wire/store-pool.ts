import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';

/** Milliseconds that an idle connection is kept; most servers close theirs after 5 to 60 seconds. */
export const KEEP_ALIVE_MS = 4_000;
/** Milliseconds by which it is closed before the server announces to do so: a request may be on its way by then. */
const KEEP_ALIVE_MARGIN_MS = 2_000;

/** Connections to one server. @param most at a time; null for as many as there are requests */
export function openPool(origin: string, most: number | null, connect: buildConnector.connector): Pool {
  return new Pool(origin, {
    connections: most,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
    // An exchange has a deadline of its own, which covers all of it.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect,
    factory: (url, options: Client.Options) => new TrackingClient(url, options),
  });
}

/** A request that learns which socket sends it. */
export interface TrackedRequest extends Dispatcher.DispatchOptions {
  socket?: () => Socket | null;
}

/** Gives each request its socket, which undici does not expose. A client has one connection at a time. */
class TrackingClient extends Client {
  #socket: Socket | null = null;
  #awaitAnswer: (() => void) | null = null;

  constructor(origin: URL, { connect, ...options }: Client.Options) {
    super(origin, {
      ...options,
      connect: (place, done) =>
        (connect as buildConnector.connector)(
          place,
          (...[error, socket]: Parameters<buildConnector.Callback>) => {
            this.#socket = socket;
            this.#awaitAnswer = socket && skipInformational(socket as Socket);
            if (error === null) done(null, socket);
            else done(error, null);
          },
        ),
    });
  }

  override dispatch(request: TrackedRequest, handler: Dispatcher.DispatchHandler): boolean {
    request.socket = () => this.#socket;
    this.#awaitAnswer?.();
    return super.dispatch(request, handler);
  }
}

/** A longer head is left to undici, which ends the connection. */
const MAX_HEAD_BYTES = 16 * 1024;
const INFORMATIONAL = 'HTTP/1.1 1';
const END_OF_HEAD = '\r\n\r\n';

/**
 * Takes informational answers off what a socket receives, which undici's client does not for a `100 Continue` that nobody asked
 * for: it ends the connection at one, where RFC 9110, 15.2 has a client skip them. To be called before undici reads the socket.
 *
 * @returns to be called for each request after the first: what comes next begins with the head of an answer
 */
function skipInformational(socket: Socket): () => void {
  let awaitsAnswer = true;
  let held: Buffer | null = null;
  socket.on('readable', () => {
    if (!awaitsAnswer) return;
    const received = socket.read() as Buffer | null;
    if (received === null) return;
    let rest = held === null ? received : Buffer.concat([held, received]);
    held = null;
    while (isInformational(rest)) {
      const end = rest.indexOf(END_OF_HEAD);
      if (end < 0 && rest.length < MAX_HEAD_BYTES) {
        held = rest;
        return;
      }
      if (end < 0) break;
      rest = rest.subarray(end + END_OF_HEAD.length);
    }
    if (rest.length === 0) return;
    awaitsAnswer = false;
    socket.unshift(rest);
  });
  return () => {
    awaitsAnswer = true;
  };
}

/** Whether it begins so, as far as it goes. */
function isInformational(head: Buffer): boolean {
  return head.length > 0 && INFORMATIONAL.startsWith(head.toString('latin1', 0, INFORMATIONAL.length));
}
