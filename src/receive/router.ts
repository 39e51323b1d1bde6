import type { IncomingMessage, ServerResponse } from 'node:http';
import express, { type ErrorRequestHandler, type Express } from 'express';
import type { Acknowledgement } from '../domain/delivery.js';
import { asProblem, Problem } from '../domain/problem.js';
import { type BodyLimits, declaredLengthOf, readBody } from '../lib/http/read-body.js';
import { BodyAbortedError } from '../lib/http/request-body.js';
import { type DrainLimits, respondProblem } from '../lib/http/respond.js';
import type { CallbackRequest } from './callback-request.js';
import { HEALTH_PATH } from './health-routes.js';
import type { Receiver } from './receive.js';

/** Options of responses on every path of the public app. */
export interface ResponseOptions {
  readonly drain: DrainLimits;
  /** Once aborted, every response closes its connection, so that the sender reconnects to another replica. */
  readonly draining: AbortSignal;
  /** Called with errors that are bugs. */
  readonly onUnexpected: (error: unknown) => void;
}

export interface CallbackRoutes extends ResponseOptions {
  readonly receiver: Pick<Receiver, 'receive' | 'misdirected'>;
  readonly bodyLimits: BodyLimits;
}

/** Requests that wait for `100 Continue` before they send their body. */
const awaitingContinue = new WeakSet<IncomingMessage>();

/** The server's `checkContinue` listener: defers the 100 until all checks of the request head have passed. */
export function deferContinue(app: Express) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    awaitingContinue.add(request);
    app(request as Parameters<Express>[0], response as Parameters<Express>[1]);
  };
}

/** `/callbacks/<source>`, with and without a trailing slash. */
const CALLBACK_PATH = /^\/callbacks\/([^/]+)\/?$/;

/** Mounts `/callbacks/<source>` on the public app. */
export function mountCallbacks(app: Express, routes: CallbackRoutes): void {
  async function receive(request: IncomingMessage, response: ServerResponse, source: string): Promise<void> {
    try {
      const callback = toCallback(request, response, source, routes);
      if (request.method !== 'POST' && request.method !== 'PUT') {
        const text = `Use POST or PUT; ${request.method} does nothing here.`;
        const problem = new Problem('method-not-allowed', text);
        if (hasCallbackQuery(callback)) routes.receiver.misdirected(callback, problem);
        throw problem;
      }
      const answer = await routes.receiver.receive(callback);
      acknowledge(response, answer, routes.draining.aborted);
    } catch (error) {
      refuse(request, response, error, routes);
    }
  }
  app.use((request, response, next) => {
    const source = sourceIn(request.path);
    return source === null ? next() : receive(request, response, source);
  });
}

/** Whether a response shows that its sender passed the checks of a source. GET does not, because anybody may request health. */
export function isAcceptedCallback({ method }: IncomingMessage, { statusCode }: ServerResponse): boolean {
  return (method === 'POST' || method === 'PUT') && statusCode < 300;
}

/** The source in a callback path; null for other and malformed paths. */
function sourceIn(path: string): string | null {
  const name = CALLBACK_PATH.exec(path)?.[1] ?? null;
  if (name === null || !name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}

/**
 * Mounts the last handlers of the public app: for unknown paths, and for errors of the framework. A callback with an unknown path is
 * recorded: a proxy may have changed the path, and nothing else would show that no callback arrives.
 */
export function mountFallbacks(app: Express, routes: CallbackRoutes): void {
  app.use((request, response) => {
    if (request.socket.remoteAddress !== undefined) {
      const callback = toCallback(request, response, '', routes);
      const problem = new Problem(
        'source-unknown',
        `There is nothing at ${JSON.stringify(beginningOf(request.path))}.`,
      );
      if (hasCallbackQuery(callback)) routes.receiver.misdirected(callback, problem);
    }
    if (HEALTH_PATH.test(request.path))
      refuse(request, response, new Problem('method-not-allowed', 'Use GET.'), routes, {
        allow: 'GET, HEAD',
      });
    else refuse(request, response, new Problem('not-found', 'There is nothing at this path.'), routes);
  });
  const onError: ErrorRequestHandler = (error: { status?: number }, request, response, _next) => {
    const isClientError = error.status !== undefined && error.status < 500;
    const problem = isClientError ? new Problem('not-found', 'The path is not well-formed.') : error;
    refuse(request, response, problem, routes);
  };
  app.use(onError);
}

/** Whether a request has the parameters that the service appends to the address of every callback. */
function hasCallbackQuery({ rawQuery }: CallbackRequest): boolean {
  return /(?:^|&)id=[^&]/.test(rawQuery) && /(?:^|&)status=[^&]/.test(rawQuery);
}

/** Paths of unauthenticated requests may be long. */
const beginningOf = (path: string) => path.slice(0, 64);

export function createPublicApp(): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false).enable('case sensitive routing');
  return app;
}

function acknowledge(response: ServerResponse, acknowledgement: Acknowledgement, closing: boolean): void {
  const body = JSON.stringify(acknowledgement);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  // 202: the body waits in quarantine for an operator.
  const status = acknowledgement.outcome === 'quarantined' ? 202 : 200;
  response.writeHead(status, closing ? { ...headers, connection: 'close' } : headers);
  response.end(body);
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  routes: ResponseOptions,
  headers?: Readonly<Record<string, string>>,
): void {
  if (error instanceof BodyAbortedError) return void response.destroy();
  const problem = asProblem(error);
  if (problem.code === 'internal') routes.onUnexpected(error);
  respondProblem(request, response, problem, routes.drain, routes.draining.aborted, headers);
}

function toCallback(
  request: IncomingMessage,
  response: ServerResponse,
  sourceName: string,
  routes: CallbackRoutes,
): CallbackRequest {
  // The connection is already closed, so that there is no address to check and no response to send.
  if (request.socket.remoteAddress === undefined) throw new BodyAbortedError();
  const url = request.url ?? '';
  const queryStart = url.indexOf('?');
  const declaredLength = declaredLengthOf(request);
  return {
    sourceName,
    method: request.method ?? '',
    peer: request.socket.remoteAddress,
    headers: request.headersDistinct,
    rawQuery: queryStart < 0 ? '' : url.slice(queryStart + 1),
    declaredLength,
    isDelimited: declaredLength !== null || request.httpVersionMajor > 1 || request.httpVersionMinor > 0,
    isGone: () => request.destroyed,
    hasArrived: () => request.complete || request.readableLength >= request.readableHighWaterMark,
    openBody: (maxBytes) =>
      readBody(request, routes.bodyLimits, { maxBytes, declaredLength }, () => {
        if (awaitingContinue.delete(request)) response.writeContinue();
      }),
  };
}
