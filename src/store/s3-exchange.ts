import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

/** An answer that was received whole. */
export interface WholeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/**
 * Sends one request and takes in its whole answer, which is to be a small one. Does without the stream that
 * undici's `request` makes of every answer: S3 answers a write with headers alone.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  signal?: AbortSignal,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new Exchange(resolve, reject, signal ?? null));
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  readonly #resolve: (answer: WholeAnswer) => void;
  readonly #reject: (error: unknown) => void;
  readonly #signal: AbortSignal | null;
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #chunks: Buffer[] | null = null;

  constructor(
    resolve: (answer: WholeAnswer) => void,
    reject: (error: unknown) => void,
    signal: AbortSignal | null,
  ) {
    this.#resolve = resolve;
    this.#reject = reject;
    this.#signal = signal;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
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
    this.#forgetSignal();
    this.#reject(error);
  }

  readonly #abort = (): void => this.#controller?.abort(this.#signal?.reason);

  #forgetSignal(): void {
    this.#signal?.removeEventListener('abort', this.#abort);
  }
}
