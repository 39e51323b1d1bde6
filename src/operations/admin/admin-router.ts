import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Request, Router } from 'express';
import { asProblem, Problem } from '../../domain/problem.js';
import { type BodyLimits, declaredLengthOf, readBody } from '../../lib/http/read-body.js';
import { BodyAbortedError } from '../../lib/http/request-body.js';
import { respondProblem, retryAfterOf } from '../../lib/http/respond.js';
import { BlockedKeyError, StoreError, UnrestoredObjectError } from '../../store/object-store.js';
import { conditionOf } from '../../store/store-condition.js';
import { adviceOf } from '../../store/store-remedies.js';
import type { Access } from './access/access.js';
import type { ChangeGate, ReadGate } from './access/gates.js';
import { type SignIn, SignInRefusal } from './access/sign-in.js';
import type { AdminAnswer, AdminRoute } from './api/admin-route.js';

export interface AdminRouterOptions {
  /** For JSON bodies; the same time-outs as for bodies of callbacks. */
  readonly limits: BodyLimits;
  readonly routes: readonly AdminRoute[];
  readonly signIn: SignIn;
  /** Every request but GET passes through it. */
  readonly changes: Pick<ChangeGate, 'pass'>;
  /** Called before each change of stored data until it resolved once. Rejects with `StoreError` while the store must not be written. */
  readonly admitChange: () => Promise<void>;
  /** Every read with a JSON answer and every preview of a change passes through it. */
  readonly reads: ReadGate;
  /** Called for every request that is signed in. */
  readonly onSignedIn: (access: Access, peer: string | undefined) => void;
  /** Called with unexpected errors: bugs. */
  readonly onUnexpected: (error: unknown) => void;
}

/** Amount of a rejected form that is read, so that its sender can read the answer. */
const DRAIN = { bytes: 1024 * 1024, ms: 5000 };
const HEADERS_BY_STATUS: Readonly<Record<number, Record<string, string>>> = {
  401: { 'www-authenticate': 'Bearer realm="transcript-receiver"' },
  429: { 'retry-after': '60' },
};

/** Mounts the routes. Without sign-in every path is answered 401, so that paths are not revealed. */
export function createAdminRouter(options: AdminRouterOptions): Router {
  const router = Router({ caseSensitive: true });
  let isAdmitted = false;
  async function admitChange(): Promise<void> {
    if (!isAdmitted) await options.admitChange();
    isAdmitted = true;
  }
  router.use((_request, response, next) => {
    response.set('cache-control', 'no-store');
    next();
  });
  for (const path of new Set(options.routes.map((route) => route.path))) {
    mountPath(router, path, { ...options, admitChange });
  }
  router.use((request, response) => {
    options.signIn.authenticate(request);
    refuse(request, response, new Problem('not-found', 'There is nothing at this path.'), options);
  });
  router.use(async (error: unknown, request: Request, response: ServerResponse, _next: unknown) => {
    if (error instanceof SignInRefusal) await error.held;
    refuse(request, response, error, options);
  });
  return router;
}

/** Whether a response shows that its request had a token, which every path below this one requires. */
export function isSignedIn(request: IncomingMessage, { statusCode }: ServerResponse): boolean {
  // Express shortens `url` while a router handles the request.
  const { originalUrl = request.url ?? '' } = request as Partial<Request>;
  return statusCode < 400 && originalUrl.startsWith('/admin/api/');
}

function mountPath(router: Router, path: string, options: AdminRouterOptions): void {
  const { signIn } = options;
  const routes = options.routes.filter((route) => route.path === path);
  for (const route of routes) {
    router[lowerCase(route.method)](path, async (request, response) => {
      const access = await signInTo(route, request, signIn);
      const peer = request.socket.remoteAddress;
      options.onSignedIn(access, peer);
      const body = route.body === undefined ? undefined : await readJson(request, options.limits);
      const call = { params: paramsOf(request), query: queryOf(request), body, access, peer };
      const handle = (signal?: AbortSignal) =>
        route.handle({ ...call, actor: access.actor, request, response, signal });
      answer(response, await passGates(route, { request, response, access, body }, handle, options));
    });
  }
  const allow = routes.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  router.all(path, (request, response) => {
    signIn.authenticate(request);
    const problem = new Problem('method-not-allowed', `Use ${allow}.`);
    respondProblem(request, response, problem, DRAIN, false, { allow });
  });
}

interface AuthenticatedRequest {
  readonly request: Request;
  readonly response: ServerResponse;
  readonly access: Access;
  readonly body: unknown;
}

async function passGates<T>(
  route: AdminRoute,
  { request, response, access, body }: AuthenticatedRequest,
  handle: (signal?: AbortSignal) => Promise<T>,
  { changes, admitChange, reads }: AdminRouterOptions,
): Promise<T> {
  if (route.method === 'GET') {
    const isDownload = Object.values(route.answers).some((each) => each && 'contentTypes' in each);
    // Downloads have a gate of their own, and routes without a right read nothing.
    if (isDownload || route.right === null) return handle();
    const sources = access.scope && [...access.scope].sort();
    const question = JSON.stringify([request.originalUrl, sources]);
    if (route.isUrgent) return reads.share(question, response, handle);
    // Not shared, because an access to content is recorded with the name of its token.
    return reads.pass(route.right === 'view' ? question : null, response, handle);
  }
  const isPreview = (body as { dryRun?: unknown } | undefined)?.dryRun === true;
  if (isPreview) return reads.pass(null, response, (signal) => changes.pass(response, () => handle(signal)));
  const changesStore = route.right === 'repair' || route.right === 'erase';
  const change = changesStore ? () => admitChange().then(() => handle()) : handle;
  return changes.pass(response, change).finally(reads.changed);
}

function lowerCase(method: AdminRoute['method']): 'get' | 'post' | 'delete' {
  return method.toLowerCase() as 'get' | 'post' | 'delete';
}

/** Signs in, and rejects with `right-missing` before any of the body is read. */
async function signInTo(route: AdminRoute, request: Request, signIn: SignIn): Promise<Access> {
  const ticket = route.ticket === true ? queryOf(request).get('ticket') : null;
  const access =
    ticket === null
      ? signIn.authenticate(request)
      : await signIn.ticket(ticket, paramsOf(request).id ?? '', request);
  if (route.right === null || access.may.has(route.right)) return access;
  throw new Problem(
    'right-missing',
    `This needs the right ${route.right}, which ${access.actor} does not have.`,
  );
}

function paramsOf(request: Request): Record<string, string> {
  const params = Object.entries(request.params as Record<string, string | string[]>);
  return Object.fromEntries(
    params.map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]),
  );
}

function queryOf(request: IncomingMessage): URLSearchParams {
  const url = request.url ?? '';
  const mark = url.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
}

function answer(response: ServerResponse, given: AdminAnswer | null): void {
  if (given === null) return;
  const body = JSON.stringify(given.body);
  response.writeHead(given.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  error: unknown,
  { onUnexpected }: AdminRouterOptions,
): void {
  const problem = asRefusal(error);
  if (problem.code === 'internal') onUnexpected(error);
  // The status has already been sent: closing the connection shows that the answer is incomplete.
  if (response.headersSent) return void response.destroy();
  const closing = error instanceof SignInRefusal && error.closing;
  respondProblem(request, response, problem, DRAIN, closing, headersFor(problem));
}

function headersFor(problem: Problem): Readonly<Record<string, string>> {
  if (problem.status === 503) return { 'retry-after': `${retryAfterOf(problem)}` };
  return HEADERS_BY_STATUS[problem.status] ?? {};
}

/** Express's own errors carry a status below 500; a store error becomes 503. */
function asRefusal(error: unknown): Problem {
  if (error instanceof StoreError) {
    const { retryAfterMs } = error;
    return new Problem('store-unavailable', storeFailureInWords(error), { cause: error, retryAfterMs });
  }
  const { status } = (error ?? {}) as { status?: number };
  if (error instanceof Problem || status === undefined || status >= 500) return asProblem(error);
  return new Problem('not-found', 'The path is not well-formed.');
}

function storeFailureInWords(error: StoreError): string {
  if (error instanceof BlockedKeyError || error instanceof UnrestoredObjectError)
    return `The store cannot be used here until an operator has repaired it: ${error.message}.`;
  const condition = conditionOf(error);
  return condition === null ? 'A call of the store failed; try again.' : adviceOf(condition);
}

const MAX_JSON = 1024 * 1024;

/** Reads a JSON body; undefined when there is none. Rejects with `body-too-large`, `body-too-slow` or `request-invalid`. */
export async function readJson(request: IncomingMessage, limits: BodyLimits): Promise<unknown> {
  const declaredLength = declaredLengthOf(request);
  if (declaredLength !== null && declaredLength > MAX_JSON) throw tooLarge();
  const body = readBody(request, limits, { maxBytes: MAX_JSON, declaredLength });
  let chunks: Buffer[];
  try {
    chunks = await Array.fromAsync(body);
  } catch (error) {
    if (error instanceof BodyAbortedError) throw invalid('The body is incomplete.', error);
    throw error instanceof Problem && error.code === 'body-too-large' ? tooLarge() : error;
  }
  if (chunks.length === 0) return undefined;
  try {
    // Rejects other encodings: replaced characters of a reason would stay in the ledger.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (error) {
    throw invalid('The body is not valid JSON in UTF-8.', error);
  }
}

function tooLarge(): Problem {
  return new Problem('body-too-large', `JSON bodies may have up to ${MAX_JSON} bytes.`);
}

function invalid(detail: string, cause: unknown): Problem {
  return new Problem('request-invalid', detail, { cause });
}
