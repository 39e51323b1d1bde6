import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { type buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { noAnswer } from '../s3-failure.js';
import type { HeaderLines } from './object-headers.js';
import { skipInformational } from './skip-informational.js';

/** A request that is sent in one go, and whose answer is small. */
export interface WireRequest {
  readonly method: 'PUT' | 'HEAD';
  readonly path: string;
  /** `host` has to be among them, and no header about the body's length. */
  readonly headers: HeaderLines;
  /** Null for a request that has none. */
  readonly body: Buffer | null;
  /** Milliseconds to wait for a connection, and then, once more, for the whole answer. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** An answer with its whole body. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Milliseconds that an idle connection is kept; most servers close theirs after 5 to 60 seconds. */
const KEEP_ALIVE_MS = 4_000;
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
interface TrackedRequest extends Dispatcher.DispatchOptions {
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

/**
 * Sends the request at once, or when a connection is free, and reads the whole answer. Avoids the stream that undici's `request`
 * makes of every answer: S3 answers a write with headers alone. Once settled, the body is not read any more.
 *
 * @param pool made by `openPool`
 * @throws S3Failure without a status when there was no answer: the request may have taken effect then, but for `PoolTimeout`, of
 *   which nothing was sent; errors of undici and of the connection as they are
 */
export function exchange(pool: Pool, request: WireRequest): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    const { method, path, headers, body } = request;
    for (const value of headers) {
      // undici would never use the connection again that it refuses such a request for.
      if (!SENDABLE.test(value)) throw new TypeError(`${JSON.stringify(value)} cannot be sent in a header`);
    }
    const dispatched: TrackedRequest = {
      method,
      path,
      headers: headers as string[],
      body,
      // undici would close the connection after a HEAD, in case a server sends a body all the same; that ends in a parse error.
      reset: false,
    };
    pool.dispatch(dispatched, new Exchange(request, dispatched, resolve, reject));
  });
}

/** What RFC 9110, 5.5 lets the value of a header have. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** S3 answers a write with an error document at most; a proxy's page may have no end. */
const MAX_ANSWER_BYTES = 64 * 1024;
const EARLY = 'success before the body was sent';

/** A request on its way, and its caller. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: WireRequest;
  readonly #dispatched: TrackedRequest;
  readonly #resolve: (answer: WholeAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #deadline: NodeJS.Timeout;
  readonly #onAbort: (() => void) | null = null;
  #controller: Dispatcher.DispatchController | null = null;
  #isSettled = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] = [];
  #received = 0;

  constructor(
    request: WireRequest,
    dispatched: TrackedRequest,
    resolve: (answer: WholeAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#dispatched = dispatched;
    this.#resolve = resolve;
    this.#reject = reject;
    const { signal, timeoutMs } = request;
    this.#deadline = setTimeout(() => {
      this.#end(noAnswer(this.#controller === null ? 'PoolTimeout' : 'AnswerTimeout', `${timeoutMs} ms`));
    }, timeoutMs);
    if (signal === undefined) return;
    this.#onAbort = () => this.#end(signal.reason);
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort);
  }

  /** It is about to be sent. Of one that has ended in the queue, nothing is. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isSettled) return controller.abort(new Error('ended before it was sent'));
    this.#controller = controller;
    this.#deadline.refresh();
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length;
    if (this.#received > MAX_ANSWER_BYTES)
      return this.#end(noAnswer('NotAnswerOfS3', `status ${this.#status}, too long`));
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    const socket = this.#dispatched.socket?.() ?? null;
    if (socket === null || socket.writableLength === 0) return this.#answer();
    // TLS reports in the next turn of the event loop that it has sent something; undici uses the connection again no earlier.
    setImmediate(() => {
      if (socket.writableLength === 0) return this.#answer();
      // The socket would go on reading the body, which belongs to its owner again. Nobody can have stored what was not sent.
      socket.destroy();
      if (this.#status < 300) this.#fail(noAnswer('NotAnswerOfS3', EARLY));
      else this.#answer();
    });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  /** Ends it, and its connection if it has one. */
  #end(error: Error): void {
    this.#fail(error);
    this.#controller?.abort(error);
  }

  #answer(): void {
    if (!this.#settle()) return;
    const text = this.#chunks.length === 0 ? '' : Buffer.concat(this.#chunks).toString();
    this.#resolve({ status: this.#status, headers: this.#headers, text });
  }

  #fail(error: unknown): void {
    if (this.#settle()) this.#reject(error);
  }

  /** True the first time. */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    clearTimeout(this.#deadline);
    if (this.#onAbort !== null) this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}
