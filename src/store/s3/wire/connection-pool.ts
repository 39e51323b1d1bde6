import { noAnswer } from '../s3-failure.js';
import type { WholeAnswer } from './answer-parser.js';
import { Connection, type ConnectionListener, type Place } from './connection.js';
import { Exchange } from './exchange.js';
import type { WireRequest } from './wire-request.js';

/**
 * Connections to one server, for small exchanges: PUTs of bodies in memory, and HEADs. A library's client costs three times as
 * much, most of it for what these do not need: streams, redirects, pipelining (docs/decisions/s3-requests.md).
 */
export class ConnectionPool implements ConnectionListener {
  readonly #place: Place;
  readonly #most: number;
  readonly #all = new Set<Connection>();
  /** The last one is used first, so that those that are not needed get old. */
  readonly #idle: Connection[] = [];
  readonly #opening = new Set<Connection>();
  readonly #queue = new Set<Exchange>();
  #closed = false;

  /** @param most connections at a time */
  constructor(origin: string, most: number, connectTimeoutMs: number) {
    this.#place = { origin: new URL(origin), connectTimeoutMs, session: undefined };
    this.#most = most;
  }

  /**
   * Sends the request at once, or when a connection is free, oldest first. Once settled, the body is not read any more.
   *
   * @throws S3Failure without a status when there was no answer, or none of HTTP: the request may have taken effect then, but for
   *   `PoolTimeout` and `ConnectTimeout`; errors of the connection as they are
   */
  send(request: WireRequest): Promise<WholeAnswer> {
    return new Promise((resolve, reject) => {
      const exchange = new Exchange(this.#place.origin.origin, request, resolve, reject);
      const { signal } = request;
      if (this.#closed) return exchange.reject(CLOSED());
      if (signal?.aborted) return exchange.reject(signal.reason);
      const connection = this.#idle.pop();
      if (connection === undefined) this.#enqueue(exchange);
      else this.#start(connection, exchange);
    });
  }

  /** Ends all connections and exchanges. */
  close(): void {
    this.#closed = true;
    for (const exchange of this.#queue) exchange.reject(CLOSED());
    this.#queue.clear();
    for (const connection of this.#all) connection.close(CLOSED());
  }

  onIdle(connection: Connection): void {
    this.#opening.delete(connection);
    const [next] = this.#queue;
    if (next === undefined) return void this.#idle.push(connection);
    this.#queue.delete(next);
    this.#start(connection, next);
  }

  onClose(connection: Connection, error: unknown): void {
    this.#all.delete(connection);
    const place = this.#idle.indexOf(connection);
    if (place >= 0) this.#idle.splice(place, 1);
    const [waiting] = this.#queue;
    // One attempt was made for each that waits.
    if (this.#opening.delete(connection) && waiting !== undefined) {
      this.#queue.delete(waiting);
      waiting.reject(error);
    }
    this.#openForWaiting();
  }

  #start(connection: Connection, exchange: Exchange): void {
    const { signal } = exchange.request;
    if (signal !== undefined) exchange.onAbort(() => connection.close(signal.reason));
    connection.send(exchange);
  }

  #enqueue(exchange: Exchange): void {
    const { signal, timeoutMs } = exchange.request;
    const leave = (error: unknown): void => {
      this.#queue.delete(exchange);
      exchange.reject(error);
    };
    exchange.waitAtMost(timeoutMs, () => leave(noAnswer('PoolTimeout', `${timeoutMs} ms`)));
    if (signal !== undefined) exchange.onAbort(() => leave(signal.reason));
    this.#queue.add(exchange);
    this.#openForWaiting();
  }

  #openForWaiting(): void {
    while (!this.#closed && this.#opening.size < this.#queue.size && this.#all.size < this.#most) {
      const connection = new Connection(this.#place, this);
      this.#all.add(connection);
      this.#opening.add(connection);
    }
  }
}

const CLOSED = () => noAnswer('StoreClosed', 'the store is closed');
