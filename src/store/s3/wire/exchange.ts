import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { buildConnector, Client, type Dispatcher, Pool } from 'undici';
import { S3Failure } from '../s3-failure.js';

/** An answer with its whole body. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request that learns which socket sends it. */
interface TrackedRequest extends Dispatcher.DispatchOptions {
  socket?: () => Socket | null;
}

/** The connection pool of `exchange`. */
export function createExchangePool(origin: string, options: Pool.Options): Pool {
  return new Pool(origin, {
    ...options,
    connect: buildConnector(options.connect as buildConnector.BuildOptions),
    factory: (url, { connect, ...rest }: Client.Options) =>
      new TrackingClient(url, rest, connect as buildConnector.connector),
  });
}

/** Gives each request its socket, which undici does not expose. A client has one connection at a time. */
class TrackingClient extends Client {
  #socket: Socket | null = null;

  constructor(origin: URL, options: Client.Options, connect: buildConnector.connector) {
    super(origin, {
      ...options,
      connect: (place, done) =>
        connect(place, (...[error, socket]: Parameters<buildConnector.Callback>) => {
          this.#socket = socket;
          if (error === null) done(null, socket);
          else done(error, null);
        }),
    });
  }

  override dispatch(request: TrackedRequest, handler: Dispatcher.DispatchHandler): boolean {
    request.socket = () => this.#socket;
    return super.dispatch(request, handler);
  }
}

/**
 * Sends one request and reads its whole answer, which has to be small. Avoids the stream that undici's `request` makes of
 * every answer: S3 answers a write with headers alone.
 *
 * Once settled, the body is not read any more: an answer that comes before the body was sent ends its connection
 * (test/unit/store/s3/wire/early-answer.test.ts).
 *
 * @param pool made by `createExchangePool`
 * @throws S3Failure `PoolTimeout` when no connection became free in time; nothing of the request was sent then
 */
export function exchange(
  pool: Pool,
  request: Dispatcher.DispatchOptions,
  terms: ExchangeTerms,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    const exchange = new Exchange(request, terms, resolve, reject);
    pool.dispatch(request, exchange);
    exchange.waitAtMost(terms.queueMs);
  });
}

export interface ExchangeTerms {
  /** How long the request may wait for a connection; undici has no limit. */
  readonly queueMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Throws what an answer is rejected with. */
  readonly accept?: (answer: WholeAnswer) => void;
}

/**
 * Sends one request and resolves with the stream of its answer once it has begun.
 *
 * @throws S3Failure `PoolTimeout` when it has not begun in time
 */
export async function openExchange(
  dispatcher: Dispatcher,
  request: Dispatcher.RequestOptions,
  withinMs: number,
): Promise<Dispatcher.ResponseData> {
  const stop = new AbortController();
  const answering = dispatcher.request({ ...request, signal: stop.signal });
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(poolTimeout(withinMs)), withinMs);
  });
  try {
    return await Promise.race([answering, expired]);
  } catch (error) {
    stop.abort();
    answering.then(({ body }) => body.on('error', () => undefined).destroy()).catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function poolTimeout(milliseconds: number): S3Failure {
  return new S3Failure({ status: null, code: 'PoolTimeout', detail: `${milliseconds} ms` });
}

/** S3 answers a write with an error document at most; a proxy's page may have no end. */
const MAX_ANSWER_BYTES = 64 * 1024;

class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: TrackedRequest;
  readonly #resolve: (answer: WholeAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #terms: ExchangeTerms;
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] | null = null;
  #received = 0;
  #queued: NodeJS.Timeout | null = null;
  #expired = false;
  #onAbort: (() => void) | null = null;

  constructor(
    request: TrackedRequest,
    terms: ExchangeTerms,
    resolve: (answer: WholeAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#terms = terms;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** To be called after the dispatch, which starts the request at once when a connection is free. */
  waitAtMost(milliseconds: number): void {
    if (this.#controller !== null) return;
    this.#queued = setTimeout(() => {
      this.#expired = true;
      this.#reject(poolTimeout(milliseconds));
    }, milliseconds);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#queued !== null) clearTimeout(this.#queued);
    // The caller has its error already: aborted here, the body is never read.
    if (this.#expired) return controller.abort(new Error('expired in the queue'));
    const { signal } = this.#terms;
    if (signal === undefined) return;
    this.#onAbort = () => controller.abort(signal.reason);
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#received += chunk.length;
    if (this.#received > MAX_ANSWER_BYTES) {
      return controller.abort(
        new S3Failure({ status: null, code: 'NotAnswerOfS3', detail: `status ${this.#status}, too long` }),
      );
    }
    this.#chunks ??= [];
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#forgetSignal();
    const socket = this.#request.socket?.() ?? null;
    // undici has queued the rest of the body in the socket, which would go on reading it.
    if (socket !== null && socket.writableLength > 0) socket.destroy();
    const text = this.#chunks === null ? '' : Buffer.concat(this.#chunks).toString();
    const answer = { status: this.#status, headers: this.#headers, text };
    try {
      this.#terms.accept?.(answer);
      this.#resolve(answer);
    } catch (error) {
      this.#reject(error);
    }
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#queued !== null) clearTimeout(this.#queued);
    this.#forgetSignal();
    this.#reject(error);
  }

  #forgetSignal(): void {
    if (this.#onAbort !== null) this.#terms.signal?.removeEventListener('abort', this.#onAbort);
  }
}
