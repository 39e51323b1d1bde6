import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

/** Pieces of a body below this size are copied together. */
const SMALL_PIECE = 4 * 1024;

const GATHERED = 16 * 1024;

/** After so many pieces the socket is not read on before they were handed over: each takes the parser a microsecond. */
const PIECES_AT_ONCE = 1024;

/** Pieces of a body that came within one turn of the event loop, in one place. */
class Gathering {
  #bytes: Buffer;
  length: number;
  pieces = 1;

  /** The first piece is kept as it came: mostly it is the only one. */
  constructor(first: Buffer) {
    this.#bytes = first;
    this.length = first.length;
  }

  get bytes(): Buffer {
    return this.length === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.length);
  }

  /** False when there is no room for it. */
  add(piece: Buffer): boolean {
    if (this.length + piece.length > GATHERED) return false;
    if (this.pieces === 1) {
      const roomy = Buffer.allocUnsafeSlow(GATHERED);
      this.#bytes.copy(roomy);
      this.#bytes = roomy;
    }
    piece.copy(this.#bytes, this.length);
    this.length += piece.length;
    this.pieces += 1;
    return true;
  }
}

/** What `createServer` takes. */
export interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/**
 * Classes for the requests and responses of an app's server.
 *
 * They have Express's prototypes from the start. Express gives every request and response another prototype when it gets
 * them, which costs them the fast property access of everything that touches them afterwards: a fifth of the CPU time of a
 * small callback. Messages made this way have nothing to be given.
 *
 * Requests hand small pieces of a body on together. Node's parser makes a buffer of every chunk of the transfer encoding,
 * and a buffer of one byte costs hundreds: whoever sends a body byte by byte would make millions of them wait in memory that
 * nobody has paid for. So nothing behind this place ever sees a body in smaller pieces than the network brought it in.
 */
export function expressMessages(app: Express): MessageClasses {
  class ReceivedRequest extends IncomingMessage {
    #gathering: Gathering | null = null;

    override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
      if (piece === null || piece.length >= SMALL_PIECE) {
        this.#handOver();
        return super.push(piece, encoding);
      }
      if (this.#gathering?.add(piece) !== true) {
        this.#handOver();
        this.#gathering = new Gathering(piece);
        setImmediate(ReceivedRequest.handOver, this);
      }
      const { pieces, length } = this.#gathering as Gathering;
      return pieces < PIECES_AT_ONCE && this.readableLength + length < this.readableHighWaterMark;
    }

    #handOver(): void {
      const gathering = this.#gathering;
      if (gathering === null) return;
      this.#gathering = null;
      if (!this.destroyed) super.push(gathering.bytes);
    }

    static handOver(request: ReceivedRequest): void {
      request.#handOver();
    }
  }
  class SentResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
  app.request = Object.setPrototypeOf(ReceivedRequest.prototype, app.request);
  app.response = Object.setPrototypeOf(SentResponse.prototype, app.response);
  return { IncomingMessage: ReceivedRequest, ServerResponse: SentResponse };
}
