import type { Socket } from 'node:net';
import { FIELD_NAME } from '../../../text/header-line.js';
import type { WholeAnswer } from './answer-parser.js';
import type { HeaderLines } from './object-headers.js';
import { PublishedExchange } from './published-exchange.js';
import { remembered } from './remembered.js';
import type { WireRequest } from './wire-request.js';

/** A request on its way, and its caller. Settles once; what comes afterwards changes nothing. */
export class Exchange {
  readonly request: WireRequest;
  /** The request up to its body. */
  readonly head: string;
  readonly #resolve: (answer: WholeAnswer) => void;
  readonly #reject: (error: unknown) => void;
  #waiting: NodeJS.Timeout | null = null;
  #onAbort: (() => void) | null = null;
  readonly #published: PublishedExchange | null;

  /** @throws for a header that would break the request apart */
  constructor(
    origin: string,
    request: WireRequest,
    resolve: (answer: WholeAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    this.request = request;
    this.#published = PublishedExchange.of(origin, request);
    this.head = headOf(request, this.#published?.headers ?? request.headers);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Calls `expired` unless the exchange begins or settles in time. */
  waitAtMost(milliseconds: number, expired: () => void): void {
    this.#waiting = setTimeout(expired, milliseconds);
  }

  /** It is about to be sent over this socket. */
  begin(socket: Socket): void {
    this.#endWait();
    this.#published?.sent(socket);
  }

  #endWait(): void {
    if (this.#waiting !== null) clearTimeout(this.#waiting);
    this.#waiting = null;
  }

  /** Calls `aborted`, and no earlier listener, when the signal of the request aborts before the exchange settles. */
  onAbort(aborted: () => void): void {
    this.#forgetSignal();
    this.#onAbort = aborted;
    this.request.signal?.addEventListener('abort', aborted);
  }

  resolve(answer: WholeAnswer): void {
    this.#forget();
    this.#published?.answered(answer);
    try {
      this.request.accept?.(answer);
      this.#resolve(answer);
    } catch (error) {
      this.#reject(error);
    }
  }

  reject(error: unknown): void {
    this.#forget();
    this.#published?.failed(error);
    this.#reject(error);
  }

  #forget(): void {
    this.#endWait();
    this.#forgetSignal();
  }

  #forgetSignal(): void {
    if (this.#onAbort !== null) this.request.signal?.removeEventListener('abort', this.#onAbort);
    this.#onAbort = null;
  }
}

/** How the body ends is not for a subscriber to say: another length would split the request in two. */
const FRAMING = /^(?:content-length|transfer-encoding)$/i;
/** What RFC 9110, 5.5 lets a header have, tabs aside. */
const VALUE = /^[\x20-\x7e\x80-\xff]*$/;

function headOf({ method, path, body }: WireRequest, headers: HeaderLines): string {
  let head = `${method} ${path} HTTP/1.1`;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string;
    const value = headers[at + 1] as string;
    if (!VALUE.test(value)) throw new TypeError(`the header ${name} has a value that cannot be sent`);
    head += lineStart(name) + value;
  }
  return body === null ? `${head}\r\n\r\n` : `${head}\r\ncontent-length: ${body.length}\r\n\r\n`;
}

/** What precedes the value of a header, by its name. */
const lineStart = remembered((name) => {
  if (!FIELD_NAME.test(name) || FRAMING.test(name))
    throw new TypeError(`the header ${JSON.stringify(name)} cannot be sent`);
  return `\r\n${name}: `;
}, 100);
