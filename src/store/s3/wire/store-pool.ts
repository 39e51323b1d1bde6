import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';

/** Milliseconds that an idle connection is kept; most servers close theirs after 5 to 60 seconds. */
export const KEEP_ALIVE_MS = 4_000;
/** Milliseconds by which it is closed before the time that the server announces, so that no request meets the close. */
const KEEP_ALIVE_MARGIN_MS = 2_000;

/** Opens a pool of connections to one server. @param maxConnections null: as many as there are requests */
export function openPool(
  origin: string,
  maxConnections: number | null,
  connect: buildConnector.connector,
): Pool {
  return new Pool(origin, {
    connections: maxConnections,
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

/** A request that gets access to its socket. */
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
