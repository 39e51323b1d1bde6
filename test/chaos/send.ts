import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Callback, Spoiling } from './callbacks.js';

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Longest a sender waits; the real one is not patient for ever either. */
const PATIENCE_MS = 20_000;

/** One attempt; null when no answer came, or none was waited for. */
export async function send(
  base: string,
  callback: Callback,
  spoiling: Spoiling,
  token: string,
): Promise<Answer | null> {
  const path = pathOf(callback);
  const credential = spoiling === 'wrong-credential' ? `${token}-not` : token;
  const headers = { ...callback.headers, 'x-chaos-token': credential };
  if (spoiling === 'none' || spoiling === 'wrong-credential') {
    return whole(`${base}${path}`, headers, callback.body);
  }
  return byHand(base, path, headers, callback.body, spoiling);
}

/** Sends at `rate` bytes a second and hangs up when `over`, unless all was sent by then. */
export async function sendSlowly(
  base: string,
  callback: Callback,
  token: string,
  rate: number,
  over: AbortSignal,
): Promise<{ readonly answer: Answer | null; readonly whole: boolean }> {
  const { body } = callback;
  const headers = { ...callback.headers, 'x-chaos-token': token, 'content-length': `${body.length}` };
  const { socket, answered } = openByHand(base, pathOf(callback), headers);
  const began = performance.now();
  let sent = 0;
  while (sent < body.length && !over.aborted && !socket.destroyed) {
    const due = Math.min(body.length, Math.ceil(((performance.now() - began) / 1000) * rate) + 100);
    socket.write(body.subarray(sent, due));
    sent = Math.max(sent, due);
    await sleep(100);
  }
  const whole = sent === body.length;
  if (!whole) socket.resetAndDestroy();
  return { answer: await answered, whole };
}

function pathOf({ jobId, status }: Callback): string {
  return `/callbacks/default?id=${jobId}&status=${status}`;
}

function whole(url: string, headers: Record<string, string>, body: Buffer): Promise<Answer | null> {
  return new Promise((resolve) => {
    const outgoing = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': body.length },
      timeout: PATIENCE_MS,
    });
    outgoing.on('timeout', () => outgoing.destroy());
    outgoing.on('error', () => resolve(null));
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', () => resolve(null));
      response.on('close', () => {
        const text = Buffer.concat(chunks).toString();
        resolve(response.complete ? { status: response.statusCode ?? 0, body: text } : null);
      });
    });
    outgoing.end(body);
  });
}

interface SocketByHand {
  readonly socket: Socket;
  /** Settles when the connection ends; null when no whole answer came. */
  readonly answered: Promise<Answer | null>;
}

function openByHand(base: string, path: string, headers: Record<string, string>): SocketByHand {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  const received: Buffer[] = [];
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  const answered = new Promise<Answer | null>((resolve) => {
    socket.once('close', () => resolve(parse(Buffer.concat(received))));
  });
  const lines = Object.entries({ ...headers, connection: 'close' });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`POST ${path} HTTP/1.1\r\nhost: chaos\r\n${head}\r\n`);
  return { socket, answered };
}

/** Over a bare socket: breaks off, ends early, comes in drops or in crumbs. */
async function byHand(
  base: string,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
  spoiling: Spoiling,
): Promise<Answer | null> {
  if (spoiling === 'chunked') {
    const { socket, answered } = openByHand(base, path, { ...headers, 'transfer-encoding': 'chunked' });
    socket.write(inChunks(body));
    return answered;
  }
  if (spoiling === 'crumbs') {
    const { socket, answered } = openByHand(base, path, { ...headers, 'transfer-encoding': 'chunked' });
    socket.write(inCrumbs(body));
    return answered;
  }
  const { socket, answered } = openByHand(base, path, { ...headers, 'content-length': `${body.length}` });
  if (spoiling === 'drip') {
    const step = Math.max(1, Math.ceil(body.length / 12));
    for (let at = 0; at < body.length && !socket.destroyed; at += step) {
      socket.write(body.subarray(at, at + step));
      await sleep(60);
    }
    return answered;
  }
  // Half of it, never all: what was not sent whole must never be seen.
  socket.write(body.subarray(0, Math.floor(body.length / 2)));
  await sleep(30);
  if (spoiling === 'abort') socket.resetAndDestroy();
  else socket.end();
  const answer = await answered;
  return body.length < 2 ? null : answer;
}

/** Bytes that are cut into chunks of one byte; what follows comes in larger ones. */
const MOST_CRUMBS = 300_000;

function inCrumbs(body: Buffer): Buffer {
  const crumbs = Math.min(body.length, MOST_CRUMBS);
  const chunks = Buffer.alloc(crumbs * 6, '1\r\n \r\n');
  for (let at = 0; at < crumbs; at += 1) chunks[at * 6 + 3] = body[at] ?? 0;
  const rest = body.subarray(crumbs);
  const last = rest.length === 0 ? [] : [Buffer.from(`${rest.length.toString(16)}\r\n`), rest, CRLF];
  return Buffer.concat([chunks, ...last, Buffer.from('0\r\n\r\n')]);
}

const CHUNK = 64 * 1024;

function inChunks(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += CHUNK) {
    const piece = body.subarray(at, at + CHUNK);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, CRLF);
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}

const CRLF = Buffer.from('\r\n');

function parse(received: Buffer): Answer | null {
  const text = received.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? -1);
  if (end < 0 || text.length - end - 4 < length) return null;
  return { status: Number(text.slice(9, 12)), body: text.slice(end + 4) };
}
