import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerS3, type S3Answer } from './s3-stand-in-answers.js';
import { describeRequest, type RequestHead, type S3Request } from './s3-stand-in-request.js';
import { type Content, createS3State, type S3State } from './s3-stand-in-state.js';

export interface DiscardingS3Options {
  /** Selects the keys whose bodies are kept; of others only the size is kept. */
  readonly keepsBody: (key: string) => boolean;
  /** Called with every request that was answered. */
  readonly onAnswer: (request: S3Request) => void;
}

export interface DiscardingS3 {
  readonly port: number;
  readonly state: S3State;
  /** Milliseconds before every answer. */
  latencyMs: number;
}

/** Bodies above this size are never kept. */
const LARGEST_KEPT = 8 * 1024 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');
const NO_BODY = Buffer.alloc(0);

/**
 * The S3 stand-in for benchmarks, with as little overhead as possible: it records nothing, checks nothing and injects no
 * faults. A PUT with a Content-Length goes through a byte counter on the bare socket, everything else through
 * node:http.
 */
export async function startDiscardingS3({ keepsBody, onAnswer }: DiscardingS3Options): Promise<DiscardingS3> {
  const state = createS3State();
  const http = createHttpServer({ requestTimeout: 0 }, (message, response) => {
    handle(message, response).catch(() => response.destroy());
  });
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    countPuts(socket, keepsBody, answerPut, (first) => handOver(http, socket, first));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const standIn = { port: (server.address() as AddressInfo).port, state, latencyMs: 0 };

  function answer(request: S3Request): S3Answer {
    const answered = answerS3(state, request, false);
    onAnswer(request);
    return answered;
  }

  function answerPut(socket: Socket, request: S3Request): void {
    const write = () => {
      if (!socket.destroyed) socket.write(rawAnswer(answer(request)));
    };
    if (standIn.latencyMs > 0) setTimeout(write, standIn.latencyMs);
    else write();
  }

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const head = describeRequest(message);
    const isDiscarded = message.method === 'PUT' && !keepsBody(head.key);
    const content = isDiscarded ? await discard(message) : await keep(message);
    if (standIn.latencyMs > 0) await sleep(standIn.latencyMs);
    const { status, headers, body } = answer({ ...head, ...content });
    response.writeHead(status, { 'content-length': body.length, ...headers });
    response.end(body);
  }

  return standIn;
}

async function keep(message: IncomingMessage): Promise<Content> {
  const body = await buffer(message);
  return { body, size: body.length };
}

/** A body of unknown length may be framed as `aws-chunked` on top of that. */
async function discard(message: IncomingMessage): Promise<Content> {
  let size = 0;
  for await (const chunk of message as AsyncIterable<Buffer>) size += chunk.length;
  const decoded = message.headers['x-amz-decoded-content-length'];
  return { body: NO_BODY, size: decoded === undefined ? size : Number(decoded) };
}

/** Hands a connection to node:http for good, with the bytes that were already read from it. */
function handOver(http: ReturnType<typeof createHttpServer>, socket: Socket, first: Buffer): void {
  socket.pause();
  http.emit('connection', socket);
  socket.unshift(first);
  process.nextTick(() => socket.resume());
}

interface CountedPut {
  readonly head: RequestHead;
  readonly size: number;
  readonly chunks: Buffer[] | null;
  missing: number;
}

/** Reads simple PUTs from the socket until the first request of another kind. */
function countPuts(
  socket: Socket,
  keepsBody: (key: string) => boolean,
  onPut: (socket: Socket, request: S3Request) => void,
  onOther: (first: Buffer) => void,
): void {
  let put: CountedPut | null = null;
  let partial: Buffer | null = null;
  socket.on('data', onData);

  function onData(chunk: Buffer): void {
    let rest = chunk;
    if (put === null) {
      const begun: Buffer = partial === null ? chunk : Buffer.concat([partial, chunk]);
      partial = begun;
      const end = begun.indexOf(HEAD_END);
      if (end === -1) return;
      put = simplePut(begun.toString('latin1', 0, end), keepsBody);
      if (put === null) {
        socket.off('data', onData);
        return onOther(begun);
      }
      rest = begun.subarray(end + HEAD_END.length);
      partial = null;
    }
    put.missing -= rest.length;
    put.chunks?.push(Buffer.from(rest));
    if (put.missing > 0) return;
    const { head, size, chunks } = put;
    put = null;
    onPut(socket, { ...head, size, body: chunks === null ? NO_BODY : Buffer.concat(chunks) });
  }
}

/** Null for a request that is not a PUT, or whose body has no length of its own. */
function simplePut(text: string, keepsBody: (key: string) => boolean): CountedPut | null {
  if (!text.startsWith('PUT ')) return null;
  const [start = '', ...lines] = text.split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const length = headers['content-length'];
  if (length === undefined || 'transfer-encoding' in headers || 'expect' in headers) return null;
  const head = describeRequest({ method: 'PUT', url: start.split(' ')[1], headers });
  const size = Number(length);
  const isKept = size <= LARGEST_KEPT && keepsBody(head.key);
  return { head, size, chunks: isKept ? [] : null, missing: size };
}

function rawAnswer({ status, headers, body }: S3Answer): string {
  let lines = '';
  for (const name of Object.keys(headers)) lines += `${name}: ${headers[name]}\r\n`;
  return `HTTP/1.1 ${status} S\r\n${lines}content-length: ${body.length}\r\n\r\n${body}`;
}
