import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerS3 } from './s3-stand-in-answers.js';
import { describeRequest, type S3Request } from './s3-stand-in-request.js';
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
const NO_BODY = Buffer.alloc(0);

/** The S3 stand-in for benchmarks: it records nothing, checks nothing and injects no faults. */
export async function startDiscardingS3({ keepsBody, onAnswer }: DiscardingS3Options): Promise<DiscardingS3> {
  const state = createS3State();
  const server = createServer({ requestTimeout: 0 }, (message, response) => {
    handle(message, response).catch(() => response.destroy());
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const standIn = { port: (server.address() as AddressInfo).port, state, latencyMs: 0 };

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const head = describeRequest(message);
    const isLarge = Number(message.headers['content-length'] ?? 0) > LARGEST_KEPT;
    const isDiscarded = message.method === 'PUT' && (isLarge || !keepsBody(head.key));
    const content = isDiscarded ? await discard(message) : await keep(message);
    if (standIn.latencyMs > 0) await sleep(standIn.latencyMs);
    const request = { ...head, ...content };
    const { status, headers, body } = answerS3(state, request, false);
    onAnswer(request);
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
