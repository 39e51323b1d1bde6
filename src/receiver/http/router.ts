import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import express, { type ErrorRequestHandler, type Express } from 'express';
import { asProblem, Problem } from '../../domain/problem.js';
import { BodyAbortedError, type CallbackRequest } from '../callback-request.js';
import type { Receiver } from '../receive.js';
import type { BodyLimits, BodyReader } from './body-reader.js';
import { distinctHeaders } from './distinct-headers.js';
import { limitPerTurn } from './limit-per-turn.js';
import { type DrainLimits, respondAcknowledged, respondProblem } from './respond.js';
import { shortenKeepAlive } from './shorten-keep-alive.js';

/** How the public app answers, whatever the path. */
export interface Answering {
  readonly drain: DrainLimits;
  /** Milliseconds that the connection of a refused stranger stays open. Default 5,000. */
  readonly strangerKeepAlive?: number;
  /** While it says yes, every answer asks its sender to reconnect elsewhere. */
  readonly isDraining: () => boolean;
  /** Told of errors that are nobody's contract: bugs. */
  readonly onUnexpected: (error: unknown) => void;
}

export interface CallbackRoutes extends Answering {
  readonly receiver: Receiver;
  readonly bodyReader: BodyReader;
  readonly bodyLimits: Omit<BodyLimits, 'maxBytes' | 'declaredLength'>;
}

const STRANGER_KEEP_ALIVE = 5000;

/** Requests that wait for `100 Continue` before they send their body. */
const awaitingContinue = new WeakSet<IncomingMessage>();

/** To be installed as the server's `checkContinue` listener, so that all checks come before the 100. */
export function deferContinue(app: Express) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    awaitingContinue.add(request);
    app(request as Parameters<Express>[0], response as Parameters<Express>[1]);
  };
}

/** Mounts `/callbacks/<source>` on the public app, with and without a trailing slash. */
export function mountCallbacks(app: Express, routes: CallbackRoutes): void {
  app.all('/callbacks/:source', async (request, response) => {
    try {
      if (request.method !== 'POST' && request.method !== 'PUT') {
        throw new Problem('method-not-allowed', `Use POST or PUT; ${request.method} does nothing here.`);
      }
      const callback = toCallback(request, response, String(request.params.source), routes);
      const answer = await routes.receiver.receive(callback);
      known.add(request.socket);
      respondAcknowledged(response, answer, routes.isDraining());
    } catch (error) {
      refuse(request, response, error, routes);
    }
  });
}

/** Ends the public app: unknown paths, and whatever the framework itself objects to. */
export function mountFallbacks(app: Express, routes: Answering): void {
  app.use((request, response) => {
    refuse(request, response, new Problem('not-found', 'There is nothing at this path.'), routes);
  });
  const onError: ErrorRequestHandler = (error: { status?: number }, request, response, _next) => {
    const broken = error.status !== undefined && error.status < 500;
    const problem = broken ? new Problem('not-found', 'The path is not well-formed.') : error;
    refuse(request, response, problem, routes);
  };
  app.use(onError);
}

export function createPublicApp(): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').set('query parser', false).enable('case sensitive routing');
  return app;
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown, routes: Answering): void {
  if (error instanceof BodyAbortedError) return void response.destroy();
  const problem = asProblem(error);
  if (problem.code === 'internal') routes.onUnexpected(error);
  const drain = awaitingContinue.has(request) ? NOTHING : routes.drain;
  const isStranger = TURNED_AWAY.has(problem.status) && !known.has(request.socket);
  inTurn(() => {
    try {
      if (isStranger) shortenKeepAlive(response, routes.strangerKeepAlive ?? STRANGER_KEEP_ALIVE);
      respondProblem(request, response, problem, drain, routes.isDraining());
    } catch (fault) {
      routes.onUnexpected(fault);
      response.destroy();
    }
  });
}

/** Statuses of requests that did not get past the door. */
const TURNED_AWAY: ReadonlySet<number> = new Set([401, 403, 404, 405]);

/** Connections over which a callback was taken: a balancer's, mostly, which strangers use as well. */
const known = new WeakSet<Socket>();

/** One for all requests: the event loop is one. Eight refusals take less than a millisecond together. */
const inTurn = limitPerTurn(8);

/** Who was not told to continue sends nothing that could be drained. */
const NOTHING: DrainLimits = { bytes: 0, ms: 0 };

function toCallback(
  request: IncomingMessage,
  response: ServerResponse,
  sourceName: string,
  routes: CallbackRoutes,
): CallbackRequest {
  // Gone before we looked: no address to judge, and nobody to be told.
  if (request.socket.remoteAddress === undefined) throw new BodyAbortedError();
  const url = request.url ?? '';
  const mark = url.indexOf('?');
  const length = request.headers['content-length'];
  const declaredLength = length === undefined ? null : Number(length);
  return {
    sourceName,
    method: request.method ?? '',
    peer: request.socket.remoteAddress,
    headers: distinctHeaders(request),
    rawQuery: mark < 0 ? '' : url.slice(mark + 1),
    declaredLength,
    isDelimited: declaredLength !== null || request.httpVersionMajor > 1 || request.httpVersionMinor > 0,
    openBody: (maxBytes) =>
      routes.bodyReader.read(request, { ...routes.bodyLimits, maxBytes, declaredLength }, () => {
        if (awaitingContinue.delete(request)) response.writeContinue();
      }),
  };
}
