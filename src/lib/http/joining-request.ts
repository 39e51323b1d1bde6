import { IncomingMessage } from 'node:http';
import type { Express } from 'express';

/** Runs functions in the order of their arrival, one in each turn of the event loop. */
export class TurnQueue {
  readonly #waiting: (() => void)[] = [];

  add(run: () => void): void {
    if (this.#waiting.push(run) === 1) setImmediate(() => this.#runNext());
  }

  #runNext(): void {
    this.#waiting.shift()?.();
    if (this.#waiting.length > 0) setImmediate(() => this.#runNext());
  }
}

/** Pieces of a body below this size are copied into one buffer. */
const SMALL_PIECE = 4 * 1024;

/** Bytes of that buffer. */
const PIECE_BUFFER = 16 * 1024;

/** After this many pieces the socket is paused until they are passed on: each costs the parser a microsecond. */
const PIECES_AT_ONCE = 1024;

/** Pieces of a body that arrived within one turn of the event loop. */
class PieceBuffer {
  #bytes: Buffer;
  length: number;
  pieces = 1;

  /** The first piece is not copied: mostly it is the only one. */
  constructor(first: Buffer) {
    this.#bytes = first;
    this.length = first.length;
  }

  get bytes(): Buffer {
    return this.length === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.length);
  }

  /** False when the piece does not fit. */
  add(piece: Buffer): boolean {
    if (this.length + piece.length > PIECE_BUFFER) return false;
    if (this.pieces === 1) {
      const larger = Buffer.allocUnsafeSlow(PIECE_BUFFER);
      this.#bytes.copy(larger);
      this.#bytes = larger;
    }
    piece.copy(this.#bytes, this.length);
    this.length += piece.length;
    this.pieces += 1;
    return true;
  }
}

/**
 * A class of requests that join small pieces of a body. Node's parser makes a buffer of every chunk of the transfer encoding, and a
 * buffer of one byte costs hundreds: a body sent byte by byte would fill memory outside the byte budget with millions of them. One read of
 * 64 KiB holds 10,000 such pieces, which take 10 ms: connections that send them are read on one at a time, a turn of the event loop each.
 *
 * @param app passes on requests of this class alone: Express gives each one the prototype `app.request`
 */
export function joiningRequest(app: Express): typeof IncomingMessage {
  const turns = new TurnQueue();
  class JoiningRequest extends IncomingMessage {
    #pieces: PieceBuffer | null = null;
    /** Small pieces since the connection was last read on. */
    #count = 0;

    override _read(size: number): void {
      const isCrumbled = this.#count >= PIECES_AT_ONCE;
      this.#count = 0;
      if (isCrumbled) turns.add(() => super._read(size));
      else super._read(size);
    }

    override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
      if (piece === null || piece.length >= SMALL_PIECE) {
        this.#flush();
        return super.push(piece, encoding);
      }
      if (this.#pieces?.add(piece) !== true) {
        this.#flush();
        this.#pieces = new PieceBuffer(piece);
        setImmediate(() => this.#flush());
      }
      this.#count += 1;
      const { pieces, length } = this.#pieces as PieceBuffer;
      return pieces < PIECES_AT_ONCE && this.readableLength + length < this.readableHighWaterMark;
    }

    #flush(): void {
      const pending = this.#pieces;
      if (pending === null) return;
      this.#pieces = null;
      if (!this.destroyed) super.push(pending.bytes);
    }
  }
  app.request = Object.setPrototypeOf(JoiningRequest.prototype, app.request);
  return JoiningRequest;
}
