import { request } from 'node:http';
import { connect } from 'node:net';
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
  const path = `/callbacks/default?id=${callback.jobId}&status=${callback.status}`;
  const credential = spoiling === 'wrong-credential' ? `${token}-not` : token;
  const headers = { ...callback.headers, 'x-chaos-token': credential };
  if (spoiling === 'none' || spoiling === 'wrong-credential') {
    return whole(`${base}${path}`, headers, callback.body);
  }
  return byHand(base, path, headers, callback.body, spoiling);
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

/** Over a bare socket: breaks off, ends early, or comes in drops. */
async function byHand(
  base: string,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
  spoiling: Spoiling,
): Promise<Answer | null> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  const received: Buffer[] = [];
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  socket.setTimeout(PATIENCE_MS, () => socket.destroy());
  const lines = Object.entries({ ...headers, 'content-length': body.length, connection: 'close' });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`POST ${path} HTTP/1.1\r\nhost: chaos\r\n${head}\r\n`);
  if (spoiling === 'drip') {
    const step = Math.max(1, Math.ceil(body.length / 12));
    for (let at = 0; at < body.length && !socket.destroyed; at += step) {
      socket.write(body.subarray(at, at + step));
      await sleep(60);
    }
    await closed;
    return parse(Buffer.concat(received));
  }
  // Half of it, never all: what was not sent whole must never be seen.
  socket.write(body.subarray(0, Math.floor(body.length / 2)));
  await sleep(30);
  if (spoiling === 'abort') socket.resetAndDestroy();
  else socket.end();
  await closed;
  return body.length < 2 ? null : parse(Buffer.concat(received));
}

function parse(received: Buffer): Answer | null {
  const text = received.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1] ?? -1);
  if (end < 0 || text.length - end - 4 < length) return null;
  return { status: Number(text.slice(9, 12)), body: text.slice(end + 4) };
}
