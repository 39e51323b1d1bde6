import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parseJson } from '../lib/text/parse-json.js';
import { readBeginning } from '../lib/text/read-beginning.js';
import { type Content, contentStream } from './content/content.js';

/** What a handler answers; a body of `Content` is streamed, anything else is JSON. */
export interface ServerAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  readonly html?: string;
  readonly content?: Content;
  /** Ends the connection after this number of bytes of `content`. */
  readonly cutAfter?: number;
}

export interface Call {
  readonly method: string;
  /** Decoded path segments without empty ones: `/v2/jobs/` and `/v2/jobs` are the same. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Readable;
}

export type Handler = (call: Call) => Promise<ServerAnswer>;

export interface RunningServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Error body of the jobs API. */
export function apiError(code: number, error: string, detail?: string): ServerAnswer {
  return { status: code, json: { code, error, ...(detail === undefined ? {} : { detail }) } };
}

/** The path exists, but not with this method. */
export function methodNotAllowed(allowed: readonly string[]): ServerAnswer {
  return { ...apiError(405, 'Method Not Allowed'), headers: { allow: allowed.join(', ') } };
}

/** Serves `handler` on a port; 0 picks a free one. */
export async function startServer(handler: Handler, host: string, port: number): Promise<RunningServer> {
  // Uploads have no time limit, and clients close idle connections before the service does.
  const times = { requestTimeout: 0, keepAliveTimeout: 60_000 };
  const server = http.createServer(times, (request, response) => {
    answerCall(handler, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    url: `http://${nameOf(host)}:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** An empty host listens on every address of both families. */
function nameOf(host: string): string {
  if (host === '') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

async function answerCall(handler: Handler, request: http.IncomingMessage, response: http.ServerResponse) {
  const call = readCall(request);
  const answer = call
    ? await handler(call).catch((error: unknown) =>
        apiError(500, 'Internal Server Error', error instanceof Error ? error.message : undefined),
      )
    : apiError(400, 'Bad Request', 'the path is not valid');
  request.resume();
  await send(answer, response);
}

/** Null for a target that is not a path, or whose percent escapes are malformed. */
function readCall(request: http.IncomingMessage): Call | null {
  try {
    const target = request.url ?? '/';
    const url = new URL(target.startsWith('/') ? `http://simulator${target}` : target);
    return {
      method: request.method ?? 'GET',
      path: url.pathname.split('/').filter(Boolean).map(decodeURIComponent),
      query: url.searchParams,
      headers: request.headers,
      body: request,
    };
  } catch {
    return null;
  }
}

async function send(answer: ServerAnswer, response: http.ServerResponse): Promise<void> {
  const { content } = answer;
  if (!content) {
    const text = answer.html ?? (answer.json === undefined ? '' : JSON.stringify(answer.json));
    const type = answer.html === undefined ? 'application/json' : 'text/html';
    response.writeHead(answer.status, {
      ...(text ? { 'content-type': type } : {}),
      'content-length': Buffer.byteLength(text),
      ...answer.headers,
    });
    response.end(text);
    return;
  }
  response.writeHead(answer.status, {
    'content-type': content.contentType,
    'content-length': content.size,
    ...answer.headers,
  });
  if (answer.cutAfter === undefined) return pipeline(contentStream(content), response);
  await sendBeginning(content, answer.cutAfter, response);
}

async function sendBeginning(content: Content, bytes: number, response: http.ServerResponse): Promise<void> {
  let left = bytes;
  for await (const chunk of content.chunks()) {
    if (left <= 0) break;
    const piece = chunk.subarray(0, left);
    left -= piece.length;
    await new Promise((resolve) => response.write(piece, resolve));
  }
  response.destroy();
}

const MAX_JSON = 1024 * 1024;

/** Reads a JSON body of at most 1 MiB; undefined when it is not JSON. */
export async function readJsonBody(body: Readable): Promise<unknown> {
  const bytes = await readBeginning(body, MAX_JSON);
  return bytes.length > MAX_JSON ? undefined : parseJson(bytes.toString('utf8'));
}
