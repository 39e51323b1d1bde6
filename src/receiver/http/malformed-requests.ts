import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Problem, problemDocument } from '../../domain/problem.js';

/** A connection's answer that is being given or prepared, kept by Node where it has always been; no type names it. */
interface Connection extends Duplex {
  readonly _httpMessage?: ServerResponse | null;
}

/**
 * Answers what the parser refuses with a problem document, in the place of Node's bare status line, and not before the
 * answers that are still owed to whole requests on the same connection: a sender must not take "400" for the fate of a
 * delivery that is being stored. The connection ends with it.
 */
export function rejectMalformedRequests(server: Server): void {
  // Every further chunk of a broken connection is told of again.
  const broken = new WeakSet<Duplex>();
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Connection) => {
    if (broken.has(socket)) return;
    broken.add(socket);
    const problem = problemOf(error);
    if (problem === null) socket.destroy(error);
    else answerInTurn(socket, problem);
  });
}

function answerInTurn(socket: Connection, problem: Problem): void {
  const owed = socket._httpMessage;
  if (owed?.req.complete) {
    // Node's own listener, which comes first, has put the next answer of the connection in its place by then.
    owed.once('close', () => answerInTurn(socket, problem));
  } else if (!socket.writable || owed?.headersSent) {
    socket.destroy();
  } else {
    socket.end(textOf(problem), () => socket.destroy());
  }
}

/** Null when the connection itself failed and nobody hears an answer. */
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
