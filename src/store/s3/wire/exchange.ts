import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { chunksOf } from '../../../lib/text/chunks-of.js';
import { noAnswer } from '../s3-failure.js';
import type { SentHeaders } from './object-headers.js';
import type { TrackedRequest } from './store-pool.js';

/** A request whose body is in memory, and whose answer is small. */
export interface WireRequest {
  readonly method: 'PUT' | 'HEAD';
  readonly path: string;
  /** Must include `host`, and no header about the body's length. */
  readonly headers: SentHeaders;
  /** Null for a request without a body. */
  readonly body: Buffer | null;
  /** Milliseconds to wait for a connection, and then again for the whole answer. */
  readonly timeoutMs: number;
  /** Milliseconds for the connection to accept each `PIECE_BYTES` of a large body. */
  readonly stallMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** An answer with its whole body. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Upper bound of an answer: S3 answers a write with an error document at most, but a proxy's page may be endless. */
const MAX_ANSWER_BYTES = 64 * 1024;
const EARLY = 'success before the body was sent';
const PIECE_BYTES = 1024 * 1024;

/**
 * A request and its whole answer. Uses undici's handler interface instead of `request`, which creates a stream for every answer (S3
 * answers a write with headers only). After the exchange has settled, the body is no longer read.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Options for the `dispatch` of a pool of `openPool`, which sends the request when a connection is free. */
  readonly options: TrackedRequest;
  /**
   * Rejects with an S3Failure without a status when there was no answer: the request may have taken effect, except after
   * `PoolTimeout`, when nothing was sent. Errors of undici and of the connection pass through.
   */
  readonly answer: Promise<WholeAnswer>;
  readonly #request: WireRequest;
  readonly #deadline: NodeJS.Timeout;
  #stalled: NodeJS.Timeout | undefined;
  readonly #onAbort: (() => void) | null = null;
  #resolve!: (answer: WholeAnswer) => void;
  #reject!: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #isSettled = false;
  #isRequestSent = false;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  readonly #chunks: Buffer[] = [];
  #received = 0;

  constructor(request: WireRequest) {
    const { method, path, signal, timeoutMs } = request;
    // Without `reset: false` undici closes the connection after a HEAD, in case a server sends a body. Such a body ends in a parse error
    // here.
    this.options = { method, path, ...sentBody(request), reset: false };
    this.#request = request;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#deadline = setTimeout(() => {
      this.#end(noAnswer(this.#controller === null ? 'PoolTimeout' : 'AnswerTimeout', `${timeoutMs} ms`));
    }, timeoutMs);
    if (signal === undefined) return;
    this.#onAbort = () => this.#end(signal.reason);
    if (signal.aborted) this.#onAbort();
    else signal.addEventListener('abort', this.#onAbort);
  }

  /** The request is about to be sent. One that has settled in the queue is dropped. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#isSettled) return controller.abort(new Error('ended before it was sent'));
    this.#controller = controller;
    this.#deadline.refresh();
    const { stallMs } = this.#request;
    if (stallMs === undefined) return;
    this.#stalled = setTimeout(() => this.#end(noAnswer('SendTimeout', `${stallMs} ms`)), stallMs);
  }

  onBodySent(): void {
    this.#stalled?.refresh();
  }

  onRequestSent(): void {
    this.#isRequestSent = true;
    clearTimeout(this.#stalled);
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
    const socket = this.options.socket?.() ?? null;
    if (socket === null || this.#isSent(socket)) return this.#answer();
    // TLS reports sent bytes in the next turn of the event loop, before undici uses the connection again.
    setImmediate(() => {
      if (this.#isSent(socket)) return this.#answer();
      // The socket would continue to read the body, whose owner may reuse it now. A body that was not sent cannot have been stored.
      socket.destroy();
      if (this.#status < 300) this.#fail(noAnswer('NotAnswerOfS3', EARLY));
      else this.#answer();
    });
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#fail(error);
  }

  #isSent(socket: Socket): boolean {
    return this.#isRequestSent && socket.writableLength === 0;
  }

  /** Fails the exchange, and closes its connection if it has one. */
  #end(error: Error): void {
    this.#fail(error);
    this.#controller?.abort(error);
  }

  #answer(): void {
    if (!this.#settle()) return;
    const text = this.#received === 0 ? '' : Buffer.concat(this.#chunks).toString();
    this.#resolve({ status: this.#status, headers: this.#headers, text });
  }

  #fail(error: unknown): void {
    if (this.#settle()) this.#reject(error);
  }

  /** Returns true the first time. */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#stalled);
    if (this.#onAbort !== null) this.#request.signal?.removeEventListener('abort', this.#onAbort);
    return true;
  }
}

/** A body with `stallMs` is sent as a stream: then undici reports each piece once the socket has accepted the previous one. */
function sentBody({ headers, body, stallMs }: WireRequest) {
  if (body === null || stallMs === undefined) return { headers, body };
  return {
    headers: { ...headers, 'content-length': `${body.length}` },
    body: Readable.from(chunksOf(body, PIECE_BYTES)),
  };
}

/**
 * Sends one request and resolves with the stream of its answer once the answer has begun.
 *
 * @throws S3Failure `PoolTimeout` when the answer has not begun in time
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
    timer = setTimeout(() => reject(noAnswer('PoolTimeout', `${withinMs} ms`)), withinMs);
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
