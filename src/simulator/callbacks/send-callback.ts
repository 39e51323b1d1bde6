import http from 'node:http';
import https from 'node:https';
import type { Content } from '../content/content.js';

export interface OutgoingCallback {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly content: Content | null;
  readonly framing: 'sized' | 'chunked';
}

export interface SendConditions {
  readonly agents: { readonly http: http.Agent; readonly https: https.Agent };
  readonly signal: AbortSignal;
  /** Destroys the connection after this number of body bytes; null: never. */
  readonly cutAfter: number | null;
}

export type CallbackAttempt =
  | { readonly answer: { readonly status: number; readonly body: string }; readonly error: null }
  | { readonly answer: null; readonly error: string };

/** Milliseconds without progress after which an attempt times out; real time, never scaled. */
const IDLE_TIMEOUT_MS = 60_000;
const ANSWER_LIMIT = 64 * 1024;

/** Sends one callback. Never throws: an error is part of the result. */
export async function sendCallback(
  request: OutgoingCallback,
  conditions: SendConditions,
): Promise<CallbackAttempt> {
  const secure = request.url.startsWith('https:');
  const options = {
    method: request.method,
    agent: secure ? conditions.agents.https : conditions.agents.http,
    signal: conditions.signal,
  };
  const outgoing = (secure ? https : http).request(request.url, options);
  outgoing.setTimeout(IDLE_TIMEOUT_MS, () => outgoing.destroy(new Error('timeout awaiting response')));
  const answered = answerOf(outgoing);
  try {
    for (const [name, value] of Object.entries(headersOf(request))) outgoing.setHeader(name, value);
    // An answer before the end of the body (413, 401) ends the attempt at once.
    await Promise.race([answered, writeBody(outgoing, request.content, conditions.cutAfter)]);
    return { answer: await answered, error: null };
  } catch (error) {
    return { answer: null, error: reason(error) };
  } finally {
    outgoing.destroy();
  }
}

function headersOf(request: OutgoingCallback): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    headers[name] = typeof value === 'string' ? value : [...value];
  }
  if (request.content) headers['Content-Type'] = request.content.contentType;
  if (request.framing === 'chunked' && request.content) headers['Transfer-Encoding'] = 'chunked';
  else headers['Content-Length'] = String(request.content?.size ?? 0);
  return headers;
}

async function answerOf(outgoing: http.ClientRequest): Promise<{ status: number; body: string }> {
  const incoming = await new Promise<http.IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve);
    outgoing.on('error', reject);
    outgoing.once('close', () => reject(new Error('connection closed before an answer')));
  });
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    if (size < ANSWER_LIMIT) chunks.push(chunk);
    size += chunk.length;
  }
  return { status: incoming.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') };
}

async function writeBody(
  outgoing: http.ClientRequest,
  content: Content | null,
  cutAfter: number | null,
): Promise<void> {
  let left = cutAfter ?? Number.POSITIVE_INFINITY;
  let sent = () => {};
  const allSent = new Promise<void>((resolve) => {
    sent = resolve;
    outgoing.once('close', resolve);
  });
  outgoing.flushHeaders();
  for await (const chunk of content?.chunks() ?? []) {
    const piece = chunk.subarray(0, left);
    left -= piece.length;
    if (outgoing.destroyed) return;
    const last = left <= 0;
    if (!outgoing.write(piece, last ? sent : undefined)) await drained(outgoing);
    if (last) break;
  }
  if (cutAfter === null) return void outgoing.end();
  // Waits until the bytes before the cut were really sent. `drain` does not prove it: it follows only a write that found the buffer
  // full. A body that ends before the cut is not waited for.
  if (left <= 0 && content && content.size > 0) await allSent;
  outgoing.destroy(new Error('write: broken pipe'));
}

/** Resolves also when the connection is closed, because `drain` never follows then. */
function drained(outgoing: http.ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done).off('close', done);
      resolve();
    };
    outgoing.on('drain', done).on('close', done);
  });
}

const GO_ERRORS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  ECONNRESET: 'read: connection reset by peer',
  EPIPE: 'write: broken pipe',
  ENOTFOUND: 'no such host',
};

function reason(error: unknown): string {
  const code = (error as { code?: unknown }).code;
  if (typeof code === 'string' && GO_ERRORS[code]) return GO_ERRORS[code];
  return error instanceof Error ? error.message : 'unknown error';
}
