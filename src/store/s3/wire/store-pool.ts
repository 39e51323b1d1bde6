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

  constructor(origin: URL, { connect, ...options }: Client.Options) {
    super(origin, {
      ...options,
      connect: (place, done) =>
        (connect as buildConnector.connector)(
          place,
          (...[error, socket]: Parameters<buildConnector.Callback>) => {
            this.#socket = socket;
            if (error === null) done(null, socket);
            else done(error, null);
          },
        ),
    });
  }

  override dispatch(request: TrackedRequest, handler: Dispatcher.DispatchHandler): boolean {
    request.socket = () => this.#socket;
    return super.dispatch(request, handler);
  }
}
