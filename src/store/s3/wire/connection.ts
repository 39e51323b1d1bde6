import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { noAnswer } from '../s3-failure.js';
import { AnswerParser, type WholeAnswer } from './answer-parser.js';
import type { Exchange } from './exchange.js';

/** Where connections lead, and how they are opened. */
export interface Place {
  readonly origin: URL;
  readonly connectTimeoutMs: number;
  /** The latest TLS session, which shortens the next handshake. */
  session: Buffer | undefined;
}

export interface ConnectionListener {
  /** It can send, for the first time or again. */
  onIdle(connection: Connection): void;
  /** It is closed. Called once. */
  onClose(connection: Connection, error: unknown): void;
}

/** Milliseconds that an idle connection is kept; most servers close theirs after 5 to 60 seconds. */
export const KEEP_ALIVE_MS = 4_000;
/** Milliseconds by which it is closed before the server announces to do so: a request may be on its way by then. */
const KEEP_ALIVE_MARGIN_MS = 2_000;
/** Milliseconds of silence after which the kernel asks whether the other end is still there. */
const PROBE_AFTER_MS = 60_000;

/** Takes in what arrives on any connection, and is parsed before anything else arrives. */
const arrived = Buffer.allocUnsafeSlow(16 * 1024);

/** A connection to the store, which carries one exchange at a time. */
export class Connection {
  readonly #listener: ConnectionListener;
  readonly #socket: Socket;
  readonly #parser = new AnswerParser();
  #exchange: Exchange | null = null;
  /** An answer has come to the exchange, which waits for the report that its request was sent. */
  #answered = false;
  #closed = false;
  readonly #opening: NodeJS.Timeout;
  #deadline: NodeJS.Timeout | null = null;
  #deadlineMs = 0;
  #idling: NodeJS.Timeout | null = null;
  #idleMs = KEEP_ALIVE_MS;
  #keepAlive = '';

  constructor(place: Place, listener: ConnectionListener) {
    this.#listener = listener;
    const isSecure = place.origin.protocol === 'https:';
    const socket = openSocket(place, (length) => this.#received(length));
    this.#socket = socket;
    this.#opening = setTimeout(() => {
      const { host } = place.origin;
      this.close(noAnswer('ConnectTimeout', `${host}, ${place.connectTimeoutMs} ms`));
    }, place.connectTimeoutMs);
    socket
      .setNoDelay(true)
      .setKeepAlive(true, PROBE_AFTER_MS)
      .once(isSecure ? 'secureConnect' : 'connect', () => this.#onOpen())
      .on('session', (session: Buffer) => {
        place.session = session;
      })
      // Not only at `close`, which comes later: until then a request could be given to it.
      .on('error', (error) => this.close(error))
      .once('end', () => this.#onEnd())
      .once('close', () => this.close(BROKEN()));
  }

  send(exchange: Exchange): void {
    const { body, method, timeoutMs } = exchange.request;
    this.#exchange = exchange;
    this.#parser.begin(method === 'HEAD');
    this.#limitTo(timeoutMs);
    const socket = this.#socket;
    socket.ref();
    exchange.begin(socket);
    // Both leave in one call of the kernel.
    socket.cork();
    socket.write(exchange.head, 'latin1');
    if (body !== null) socket.write(body);
    socket.uncork();
  }

  #onOpen(): void {
    clearTimeout(this.#opening);
    if (this.#closed) return;
    this.#rest();
  }

  #received(length: number): void {
    const exchange = this.#exchange;
    // Nobody asked for it.
    if (exchange === null || this.#answered) return this.close(BROKEN());
    let answer: WholeAnswer | null;
    try {
      answer = this.#parser.take(arrived, length);
    } catch (error) {
      return this.close(error);
    }
    if (answer !== null) this.#onAnswer(exchange, answer);
  }

  /** TLS reports in the next turn of the event loop that it has sent something; the answer may be read before that. */
  #onAnswer(exchange: Exchange, answer: WholeAnswer): void {
    if (this.#socket.writableLength === 0) return this.#settle(exchange, answer);
    this.#answered = true;
    setImmediate(() => {
      this.#answered = false;
      if (this.#exchange === exchange) this.#settle(exchange, answer);
    });
  }

  #settle(exchange: Exchange, answer: WholeAnswer): void {
    this.#exchange = null;
    const isSent = this.#socket.writableLength === 0;
    // After an answer that came early, the socket would go on reading the body, which belongs to its owner again.
    if (this.#parser.reusable && isSent && this.#mayRest(answer)) this.#rest();
    else this.close(null);
    // Nobody can have stored what was not sent.
    if (answer.status < 300 && !isSent) exchange.reject(noAnswer('NotAnswerOfS3', EARLY));
    else exchange.resolve(answer);
  }

  /** The server has sent its last byte. */
  #onEnd(): void {
    if (this.#answered) return;
    const exchange = this.#exchange;
    const answer = exchange === null ? null : this.#parser.end();
    if (exchange !== null && answer !== null) this.#onAnswer(exchange, answer);
    else this.close(BROKEN());
  }

  /** How long it may be idle, as the server's last answer says. False when it must not be used again. */
  #mayRest({ headers: { 'keep-alive': announced } }: WholeAnswer): boolean {
    if (announced !== undefined && announced !== this.#keepAlive) {
      this.#keepAlive = announced;
      const seconds = /\btimeout=(\d{1,9})/i.exec(announced)?.[1];
      const limit = seconds === undefined ? KEEP_ALIVE_MS : Number(seconds) * 1000 - KEEP_ALIVE_MARGIN_MS;
      this.#idleMs = Math.min(KEEP_ALIVE_MS, limit);
      if (this.#idling !== null) clearTimeout(this.#idling);
      this.#idling = null;
    }
    return this.#idleMs > 0;
  }

  /** An idle connection does not keep the process alive. */
  #rest(): void {
    this.#socket.unref();
    if (this.#idling === null) this.#idling = setTimeout(() => this.#onIdleLong(), this.#idleMs).unref();
    else this.#idling.refresh();
    this.#listener.onIdle(this);
  }

  /** Timers are not stopped but ignored: stopping and starting one for each exchange would allocate it each time. */
  #onIdleLong(): void {
    if (this.#exchange === null) this.close(null);
  }

  #limitTo(milliseconds: number): void {
    if (this.#deadline !== null && this.#deadlineMs === milliseconds) return void this.#deadline.refresh();
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#deadlineMs = milliseconds;
    this.#deadline = setTimeout(() => this.#onDeadline(), milliseconds).unref();
  }

  #onDeadline(): void {
    if (this.#exchange !== null) this.close(noAnswer('AnswerTimeout', `${this.#deadlineMs} ms`));
  }

  /** Ends it, and the exchange that it carries. */
  close(error: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const timer of [this.#opening, this.#deadline, this.#idling])
      if (timer !== null) clearTimeout(timer);
    const exchange = this.#exchange;
    this.#exchange = null;
    this.#socket.destroy();
    this.#listener.onClose(this, error);
    exchange?.reject(error);
  }
}

const EARLY = 'success before the body was sent';
const BROKEN = () => noAnswer('ECONNRESET', 'the store closed the connection');

function openSocket({ origin, session }: Place, onRead: (length: number) => void): Socket {
  const { hostname, protocol, port } = origin;
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  const onread = {
    buffer: arrived,
    callback(length: number) {
      onRead(length);
      return true;
    },
  };
  if (protocol !== 'https:') return connectTcp({ host, port: Number(port || 80), onread });
  // An address has no server name (RFC 6066, 3).
  const servername = isIP(host) === 0 ? host : '';
  const options = { host, port: Number(port || 443), servername, ALPNProtocols: ['http/1.1'], onread };
  return connectTls(session === undefined ? options : { ...options, session });
}
