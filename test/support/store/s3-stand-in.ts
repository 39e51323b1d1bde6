import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerS3, type S3Answer, s3Error } from './s3-stand-in-answers.js';
import { describeRequest, type S3Request } from './s3-stand-in-request.js';
import { createS3State, type S3State } from './s3-stand-in-state.js';

export interface RecordedRequest extends S3Request {
  /** How many of this operation on this key there were, this one included. */
  readonly attempt: number;
}

/**
 * How a request fails. With `done` the request takes effect first.
 * `error200` is a 200 whose body is an error; `page` is what a proxy shows instead of the server's answer, `emptyPage` one without content;
 * `cut` drops the connection half-way through the answer's body.
 */
export type Misbehaviour =
  | { kind: 'answer'; status: number; code: string; done?: boolean; headers?: Record<string, string> }
  | { kind: 'error200'; code: string; done?: boolean }
  | { kind: 'xml'; body: string; done?: boolean }
  | { kind: 'page'; status?: number; headers?: Record<string, string>; done?: boolean }
  | { kind: 'emptyPage'; headers: Record<string, string>; done?: boolean }
  | { kind: 'reset'; done?: boolean }
  | { kind: 'hang'; done?: boolean }
  | { kind: 'cut' };

export type Quirk = (request: S3Request, proper: (request: S3Request) => S3Answer) => S3Answer;

export interface S3StandIn {
  readonly endpoint: string;
  readonly state: S3State;
  readonly requests: RecordedRequest[];
  /** Called for every request; null answers it properly. */
  misbehave: (request: RecordedRequest) => Misbehaviour | null;
  /** Whether answers carry `x-amz-request-id`, as those of AWS and most others do. Default true. */
  sendsRequestIds: boolean;
  /** The id of an answer by the number of its request, counted from 1. */
  requestId: (request: number) => string;
  /** Milliseconds this server's clock is ahead; requests signed more than 15 minutes away from it are refused. */
  clockAheadMs: number;
  /** Accepted so far. */
  connections: number;
  /** Those that are open; only a client closes one. */
  openConnections: number;
  /** Requests that hang and whose client still waits. */
  hanging: number;
  /** How this server differs from S3: gets each request and the way to the proper answer. */
  quirk: Quirk | null;
  /** True makes `If-None-Match` mean nothing, as some compatibles do. */
  ignoreConditions: boolean;
  close(): Promise<void>;
}

/**
 * A small S3 in memory at the network seam: one bucket (of any name), path style, conditional writes,
 * multipart uploads, paged listings. Does not check signatures; checks announced body hashes.
 */
export async function startS3StandIn(): Promise<S3StandIn> {
  const state = createS3State(() => Date.now() + standIn.clockAheadMs);
  const attempts = new Map<string, number>();
  // No idle timeout: after the process was suspended, a request would race with the close.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    handle(request, response).catch(() => response.destroy());
  });

  const standIn: S3StandIn = {
    get endpoint() {
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    state,
    requests: [],
    misbehave: () => null,
    sendsRequestIds: true,
    requestId: (request) => `tx${request}`,
    clockAheadMs: 0,
    connections: 0,
    openConnections: 0,
    hanging: 0,
    quirk: null,
    ignoreConditions: false,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };

  async function handle(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await message.toArray());
    const described = describeRequest(message);
    const name = `${described.operation} ${described.key}`;
    const attempt = (attempts.get(name) ?? 0) + 1;
    attempts.set(name, attempt);
    const request = { ...described, body, size: body.length, attempt };
    standIn.requests.push(request);
    const fault = standIn.misbehave(request);
    const isDone = fault === null || fault.kind === 'cut' || fault.done === true;
    const honest = isDone ? checked(request) : null;
    if (standIn.sendsRequestIds && fault?.kind !== 'page' && fault?.kind !== 'emptyPage')
      response.setHeader('x-amz-request-id', standIn.requestId(standIn.requests.length));
    response.setHeader('date', new Date(Date.now() + standIn.clockAheadMs).toUTCString());
    if (fault?.kind === 'hang') {
      standIn.hanging += 1;
      response.once('close', () => {
        standIn.hanging -= 1;
      });
    }
    if (fault !== null) return misbehave(fault, honest, response);
    if (honest !== null) send(response, honest);
  }

  function checked(request: S3Request): S3Answer {
    const signedAt = signingTime(request.headers['x-amz-date']);
    if (Math.abs(signedAt - Date.now() - standIn.clockAheadMs) > 900_000) {
      const refusal = s3Error(403, 'RequestTimeTooSkewed');
      return request.operation === 'HeadObject' ? { ...refusal, body: Buffer.alloc(0) } : refusal;
    }
    const announced = request.headers['x-amz-content-sha256'];
    const isHash = typeof announced === 'string' && /^[0-9a-f]{64}$/.test(announced);
    if (isHash && announced !== hash('sha256', request.body))
      return s3Error(400, 'XAmzContentSHA256Mismatch');
    const proper = (asked: S3Request) => answerS3(state, asked, standIn.ignoreConditions);
    return standIn.quirk === null ? proper(request) : standIn.quirk(request, proper);
  }

  server.on('connection', (socket) => {
    standIn.connections += 1;
    standIn.openConnections += 1;
    socket.once('close', () => {
      standIn.openConnections -= 1;
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return standIn;
}

/** Time of `20261121T210000Z`. */
function signingTime(header: string | string[] | undefined): number {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(header)) ?? [];
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

function misbehave(fault: Misbehaviour, honest: S3Answer | null, response: ServerResponse): void {
  if (fault.kind === 'reset') response.socket?.resetAndDestroy();
  if (fault.kind === 'answer') send(response, s3Error(fault.status, fault.code, fault.headers));
  if (fault.kind === 'page') {
    const headers = { 'content-type': 'text/html', ...fault.headers };
    send(response, { status: fault.status ?? 200, headers, body: Buffer.from('<html>maintenance</html>') });
  }
  if (fault.kind === 'emptyPage')
    send(response, { status: 200, headers: fault.headers, body: Buffer.alloc(0) });
  if (fault.kind === 'xml')
    send(response, {
      status: 200,
      headers: { 'content-type': 'application/xml' },
      body: Buffer.from(fault.body),
    });
  if (fault.kind === 'error200') send(response, { ...s3Error(500, fault.code), status: 200 });
  if (fault.kind === 'cut' && honest !== null) {
    response.writeHead(honest.status, { ...honest.headers, 'content-length': honest.body.length });
    response.write(honest.body.subarray(0, honest.body.length / 2), () => response.destroy());
  }
}

function send(response: ServerResponse, answer: S3Answer): void {
  response.writeHead(answer.status, { 'content-length': answer.body.length, ...answer.headers });
  response.end(answer.body);
}
