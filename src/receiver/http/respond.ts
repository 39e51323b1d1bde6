import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Acknowledgement } from '../../domain/delivery.js';
import { type Problem, problemDocument } from '../../domain/problem.js';

/** Seconds after which a refused sender may come again; the service retries by its own clock anyway. */
const RETRY_AFTER = 5;
/** What a store may ask of senders at most: a sender that took it at its word for a day would give the callback up. */
const LONGEST_RETRY_AFTER = 600;

/** How much of a refused body is read, so that the sender gets to read the answer. */
export interface DrainLimits {
  readonly bytes: number;
  readonly ms: number;
}

/** @param closing the server is draining: the sender should reconnect, to another replica */
export function respondAcknowledged(
  response: ServerResponse,
  answer: Acknowledgement,
  closing: boolean,
): void {
  const body = JSON.stringify(answer);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  // 202: the body waits in quarantine for an operator.
  const status = answer.outcome === 'quarantined' ? 202 : 200;
  response.writeHead(status, closing ? { ...headers, connection: 'close' } : headers);
  response.end(body);
}

/**
 * Answers a refusal whose body has not been read to the end.
 *
 * A sender that is still writing must be able to read the answer: closing would reset the connection under it, and
 * a balancer in between would say 502; reading on without bound would let it send for ever. So a little is drained,
 * then nothing is read any more, which holds the sender up without cutting it, and after a time the socket goes.
 *
 * @param headers further headers that belong to the problem; by default those of callbacks
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

/** Bytes of the body that may still come; infinite for a chunked one. */
function restOf(request: IncomingMessage): number {
  if (request.complete || request.destroyed) return 0;
  if (request.headers['transfer-encoding'] !== undefined) return Number.POSITIVE_INFINITY;
  return Number(request.headers['content-length'] ?? 0);
}

function drainRequest(request: IncomingMessage, response: ServerResponse, limits: DrainLimits): void {
  let drained = 0;
  const { socket } = request;
  const stop = (): void => {
    clearTimeout(timer);
    request.off('data', count);
    socket.off('close', stop);
    if (!response.writableEnded) response.end();
    if (!request.complete) socket.destroySoon();
  };
  const count = (chunk: Buffer): void => {
    drained += chunk.length;
    if (drained > limits.bytes) request.pause();
  };
  const timer = setTimeout(stop, limits.ms);
  request.on('error', () => {});
  request.on('data', count);
  request.once('end', stop);
  // Not the request's: once its answer is written it does not always close with its connection.
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

/** Seconds, as the store asked for where it did. */
export function retryAfterOf({ retryAfterMs }: Problem): number {
  if (retryAfterMs === null) return RETRY_AFTER;
  return Math.min(Math.max(1, Math.ceil(retryAfterMs / 1000)), LONGEST_RETRY_AFTER);
}
