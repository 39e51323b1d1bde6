import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Problem, problemDocument } from '../../domain/problem.js';

/** Retry-After of refused senders, in seconds; the speech service retries on its own schedule anyway. */
const RETRY_AFTER = 5;
/** Upper bound of a store's Retry-After, in seconds: a sender that waits for a day would give up the callback. */
const MAX_RETRY_AFTER = 600;

/** How much of a refused body is read, so that the sender can read the response. */
export interface DrainLimits {
  readonly bytes: number;
  readonly ms: number;
}

/**
 * Responds to a request whose body has not been read to the end.
 *
 * A sender that is still writing must be able to read the response. Closing at once would reset its connection, which a
 * load balancer turns into a 502; reading on without a bound would let it send forever. So a limited amount is drained, then
 * reading stops, which pauses the sender, and after a time the socket is closed.
 *
 * @param closing the server is draining: the sender should reconnect, to another replica
 * @param headers further headers of the problem; default: those of the callback contract
 */
export function respondProblem(
  request: IncomingMessage,
  response: ServerResponse,
  problem: Problem,
  drain: DrainLimits,
  closing: boolean,
  headers: Readonly<Record<string, string>> = headersFor(problem),
): void {
  if (response.headersSent || response.destroyed) return;
  const body = JSON.stringify(problemDocument(problem));
  const rest = restOf(request);
  const mayKeepAlive = rest <= drain.bytes && response.shouldKeepAlive && !closing;
  response.writeHead(problem.status, {
    'content-type': 'application/problem+json',
    'content-length': Buffer.byteLength(body),
    ...headers,
    ...(mayKeepAlive ? {} : { connection: 'close' }),
  });
  if (rest === 0 || mayKeepAlive) response.end(body);
  else response.write(body);
  if (rest > 0) drainRequest(request, response, drain);
}

/** Bytes of the body that may still arrive; infinite for a chunked one. */
function restOf(request: IncomingMessage): number {
  if (request.complete || request.destroyed) return 0;
  if (request.headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(request.headers['content-length'] ?? 0);
}

/** Counts bytes of the connection, as chunks of one byte each are six times as many there. */
function drainRequest(request: IncomingMessage, response: ServerResponse, limits: DrainLimits): void {
  const { socket } = request;
  const before = socket.bytesRead;
  const stop = (): void => {
    clearTimeout(timer);
    request.off('data', count);
    socket.off('close', stop);
    if (!response.writableEnded) response.end();
    if (!request.complete) socket.destroySoon();
  };
  const count = (): void => {
    if (socket.bytesRead - before > limits.bytes) request.pause();
  };
  const timer = setTimeout(stop, limits.ms);
  request.on('error', () => {});
  request.on('data', count);
  request.once('end', stop);
  // The socket's, because a request does not always close with its connection once its response is written.
  socket.once('close', stop);
  request.resume();
}

function headersFor(problem: Problem): Record<string, string> {
  switch (problem.status) {
    case 401:
      return { 'www-authenticate': 'Callback-Header realm="callbacks"' };
    case 405:
      return { allow: 'POST, PUT' };
    case 503:
      return { 'retry-after': `${retryAfterOf(problem)}` };
    default:
      return {};
  }
}

/** Seconds; the store's own Retry-After where it sent one. */
export function retryAfterOf({ retryAfterMs }: Problem): number {
  if (retryAfterMs === null) return RETRY_AFTER;
  return Math.min(Math.max(1, Math.ceil(retryAfterMs / 1000)), MAX_RETRY_AFTER);
}
