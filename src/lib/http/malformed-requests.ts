import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Problem, problemDocument } from '../../domain/problem.js';
import type { ReasonCode } from '../../domain/reasons.js';
import type { ConnectionRequests } from './connections/connection-requests.js';

interface ParserError extends NodeJS.ErrnoException {
  /** The bytes that Node's parser did not understand. */
  readonly rawPacket?: Buffer;
}

/** A request that is not valid HTTP/1.1, and its answer. */
export interface MalformedRequest {
  readonly problem: Problem;
  /** The code of the problem, or one of `OTHER_PROTOCOL_REASONS`. */
  readonly reason: ReasonCode;
  /** Address of the sender or of its balancer; undefined once it has disconnected. */
  readonly peer: string | undefined;
}

export type OnMalformed = (request: MalformedRequest) => void;

interface OtherProtocol {
  readonly reason: ReasonCode;
  /** A connection begins with one of these, and no request can. */
  readonly starts: readonly Buffer[];
  /** For the operator who set up the balancer, and for its log. */
  readonly detail: string;
}

const OTHER_PROTOCOLS: readonly OtherProtocol[] = [
  {
    reason: 'proxy-protocol',
    // Version 1 is a line of text, version 2 begins with twelve bytes.
    starts: [Buffer.from('PROXY '), Buffer.from('\r\n\r\n\0\r\nQUIT\n')],
    detail:
      'A PROXY protocol header came before the request. The receiver does not read it: switch it off in the balancer, or put haproxy in between, which reads it and sends X-Forwarded-For.',
  },
  {
    reason: 'tls',
    // A record of a handshake (22), of any version since SSL 3.0.
    starts: [Buffer.from([22, 3])],
    detail:
      'TLS came instead of a request. The receiver does not speak it: end it in the balancer, and forward plain HTTP.',
  },
  {
    reason: 'http2',
    // The connection preface of RFC 9113, 3.4.
    starts: [Buffer.from('PRI * HTTP/2.0\r\n')],
    detail:
      'HTTP/2 came instead of HTTP/1.1, which alone the receiver speaks: let the balancer forward that.',
  },
];

function otherProtocolOf(bytes: Buffer | undefined): OtherProtocol | null {
  if (bytes === undefined) return null;
  const begins = (start: Buffer) => bytes.subarray(0, start.length).equals(start);
  return OTHER_PROTOCOLS.find(({ starts }) => starts.some(begins)) ?? null;
}

/**
 * Responds with a problem document, instead of Node's bare status line, to what the HTTP parser rejects. The response comes
 * after those to earlier requests on the same connection, so that a sender does not take the 400 for the outcome of a
 * delivery that is still being stored. The connection ends with it.
 */
export function rejectMalformedRequests(
  server: Server,
  requests: ConnectionRequests,
  onMalformed: OnMalformed,
): void {
  // Node emits the event again for every further chunk of a broken connection.
  const broken = new WeakSet<Duplex>();
  server.on('clientError', (error: ParserError, socket: Socket) => {
    if (broken.has(socket)) return;
    broken.add(socket);
    const other = otherProtocolOf(error.rawPacket);
    const problem = other === null ? problemOf(error) : new Problem('request-malformed', other.detail);
    if (problem === null) {
      socket.destroy(error);
      return;
    }
    if (requests.isInBody(socket)) return endBody(socket, problem, requests);
    onMalformed({
      problem,
      reason: other?.reason ?? problem.code,
      peer: socket.remoteAddress,
    });
    respondInOrder(socket, problem, requests);
  });
}

/** Ends a body that stopped early or has invalid chunks. Its request is refused, so it does not count as malformed as well. */
function endBody(socket: Socket, problem: Problem, requests: ConnectionRequests): void {
  if (requests.pendingOf(socket).length > 0) return respondInOrder(socket, problem, requests);
  socket.end(() => socket.destroy());
}

/** Responds to CONNECT, whose connection Node closes without a response when nothing listens for it. */
export function rejectConnect(
  server: Server,
  requests: ConnectionRequests,
  onMalformed: OnMalformed = () => {},
): void {
  server.on('connect', ({ socket: { remoteAddress } }: IncomingMessage, socket: Duplex) => {
    // Node has removed its own listener.
    socket.on('error', () => {});
    const problem = new Problem('request-malformed', 'CONNECT is for proxies; this is not one.');
    onMalformed({ problem, reason: problem.code, peer: remoteAddress });
    respondInOrder(socket, problem, requests);
  });
}

function respondInOrder(socket: Duplex, problem: Problem, requests: ConnectionRequests): void {
  const pending = requests.pendingOf(socket).find(({ writableFinished }) => !writableFinished);
  if (pending?.req.complete) {
    pending.once('close', () => respondInOrder(socket, problem, requests));
  } else if (!socket.writable || pending?.headersSent) {
    socket.destroy();
  } else {
    socket.end(textOf(problem), () => socket.destroy());
  }
}

/** Null when the connection itself failed, so that no response can be sent. */
function problemOf({ code = '' }: NodeJS.ErrnoException): Problem | null {
  if (code === 'HPE_HEADER_OVERFLOW') return new Problem('head-too-large', 'The headers are too large.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Problem('head-too-slow', 'The headers did not come in time.');
  return code.startsWith('HPE_') ? new Problem('request-malformed', 'This is not valid HTTP/1.1.') : null;
}

function textOf(problem: Problem): string {
  const body = JSON.stringify(problemDocument(problem));
  const lines = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
