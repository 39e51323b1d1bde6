import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { S3Failure } from '../s3-failure.js';

/** An answer that was received whole. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** When a request has to have a connection; undici itself lets it wait for one without end. */
export interface QueueLimit {
  readonly queueMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends one request and takes in its whole answer, which is to be a small one. Does without the stream that
 * undici's `request` makes of every answer: S3 answers a write with headers alone.
 *
 * @throws S3Failure `PoolTimeout` when no connection became free in time; nothing of the request is sent then,
 *   and its body is not read any more
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { queueMs, signal }: QueueLimit,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    const exchange = new Exchange(resolve, reject, signal ?? null);
    dispatcher.dispatch(request, exchange);
    exchange.waitAtMost(queueMs);
  });
}

/**
 * Sends one request and resolves with the stream of its answer, once that has begun.
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

class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: WholeAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #signal: AbortSignal | null;
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] | null = null;
  #queued: NodeJS.Timeout | null = null;
  #expired = false;

  constructor(
    resolve: (answer: WholeAnswer) => void,
    reject: (error: unknown) => void,
    signal: AbortSignal | null,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
  }

  /** To be called after the dispatch, which begins at once when a connection is free. */
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
    // Its caller has gone: aborted here, the body is never read.
    if (this.#expired) return controller.abort(new Error('expired in the queue'));
    if (this.#signal === null) return;
    if (this.#signal.aborted) this.#abort();
    else this.#signal.addEventListener('abort', this.#abort);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks ??= [];
    this.#chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.#forgetSignal();
    const text = this.#chunks === null ? '' : Buffer.concat(this.#chunks).toString();
    this.#resolve({ status: this.#status, headers: this.#headers, text });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#queued !== null) clearTimeout(this.#queued);
    this.#forgetSignal();
    this.#reject(error);
  }

  readonly #abort = (): void => this.#controller?.abort(this.#signal?.reason);

  #forgetSignal(): void {
    this.#signal?.removeEventListener('abort', this.#abort);
  }
}
