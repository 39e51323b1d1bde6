import { setMaxListeners } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough, type Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownAddress } from '../http/own-address.js';

/** A fault of one request. */
export type ProxyFault =
  /** Answered by the proxy; the server does not see the request. */
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly code?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** A page of the proxy's own with status 200; the server does not see the request. */
  | { readonly kind: 'page' }
  /** The connection is reset before anything is forwarded. */
  | { readonly kind: 'reset' }
  /** The connection is reset after this number of body bytes; the server sees a broken request. */
  | { readonly kind: 'resetAfter'; readonly bytes: number }
  /** The server processes the request, and the connection is reset instead of the response. */
  | { readonly kind: 'loseAnswer' }
  /** The connection is reset after this number of bytes of the answer's body. */
  | { readonly kind: 'cutAnswer'; readonly bytes: number }
  /** Forwards nothing and does not respond until the sender closes. */
  | { readonly kind: 'hang' }
  /** Forwarded after a delay. */
  | { readonly kind: 'delay'; readonly ms: number }
  /** The answer passes with other headers, as through another gateway, and after an informational one where told so. */
  | {
      readonly kind: 'otherGateway';
      readonly without: readonly string[];
      readonly with: Readonly<Record<string, string>>;
      readonly earlyHints: boolean;
    }
  /** The body is forwarded at no more than this rate. */
  | { readonly kind: 'slow'; readonly bytesPerSecond: number };

interface ProxiedRequest {
  readonly method: string;
  readonly url: string;
  /** Requests through this proxy so far, this one included. */
  readonly count: number;
}

export interface FaultProxy {
  /** Address to use instead of the server's own; stays the same over `refuse` and `accept`. */
  readonly url: string;
  /** Selects the fault of every request; null forwards it. */
  fault: (request: ProxiedRequest) => ProxyFault | null;
  /**
   * Ends faults for good, also of requests in flight: what a delay or a rate still holds back is forwarded at once. The
   * sender may have closed long ago, which the proxy notices only when it has read all bytes before. Requests that hang
   * still hang.
   */
  endFaults(): void;
  /** Ends all connections and refuses new ones. */
  refuse(): Promise<void>;
  /** Accepts connections again. */
  accept(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A proxy in front of any HTTP server that lets requests fail the way networks and servers do. Host and all
 * other headers pass unchanged, so signatures made for the proxy's address hold.
 */
export async function startFaultProxy(target: string): Promise<FaultProxy> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const faultsEnded = new AbortController();
  setMaxListeners(0, faultsEnded.signal);
  const route: Route = { target, agent, faultsEnded: faultsEnded.signal };
  let count = 0;
  // No idle timeout: after the process was suspended, a request would race with the close.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (incoming, outgoing) => {
    count += 1;
    const { method = '', url = '' } = incoming;
    const fault = route.faultsEnded.aborted ? null : proxy.fault({ method, url, count });
    pass(route, incoming, outgoing, fault).catch(() => outgoing.socket?.resetAndDestroy());
  });
  // The port is bound again after `refuse`.
  const address = ownAddress();
  const listen = (port: number): Promise<void> =>
    new Promise((done, failed) => {
      server.once('error', failed);
      server.listen(port, address, () => {
        server.off('error', failed);
        done();
      });
    });
  const refuse = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });

  await listen(0);
  const { port } = server.address() as AddressInfo;
  const proxy: FaultProxy = {
    url: `http://${address}:${port}`,
    fault: () => null,
    endFaults: () => faultsEnded.abort(),
    refuse,
    accept: () => listen(port),
    async close() {
      if (server.listening) await refuse();
      agent.destroy();
    },
  };
  return proxy;
}

interface Route {
  readonly target: string;
  readonly agent: Agent;
  readonly faultsEnded: AbortSignal;
}

async function pass(
  route: Route,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  fault: ProxyFault | null,
): Promise<void> {
  if (fault?.kind === 'hang') return;
  if (fault?.kind === 'reset') throw new Error('reset');
  if (fault?.kind === 'answer')
    return answer(incoming, outgoing, fault.status, fault.code ?? 'InternalError', fault.headers);
  if (fault?.kind === 'page') {
    await buffer(incoming);
    outgoing.writeHead(200, { 'content-type': 'text/html' }).end('<html>maintenance</html>');
    return;
  }
  if (fault?.kind === 'delay') await pause(fault.ms, route.faultsEnded);
  const response = await forward(route, incoming, faultyBody(incoming, fault, route.faultsEnded));
  if (fault?.kind === 'loseAnswer') {
    await buffer(response);
    throw new Error('lost');
  }
  if (fault?.kind === 'otherGateway' && fault.earlyHints)
    outgoing.writeEarlyHints({ link: '</hint>; rel=preload' });
  outgoing.writeHead(response.statusCode ?? 502, gatewayHeaders(response, fault));
  await pipeline(response, cut(fault?.kind === 'cutAnswer' ? fault.bytes : null), outgoing);
}

function gatewayHeaders({ rawHeaders }: IncomingMessage, fault: ProxyFault | null): string[] {
  if (fault?.kind !== 'otherGateway') return rawHeaders;
  const replaced = [...fault.without, ...Object.keys(fault.with)];
  const kept: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    if (!replaced.includes(name.toLowerCase())) kept.push(name, value);
  }
  return [...kept, ...Object.entries(fault.with).flat()];
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  await buffer(incoming);
  outgoing.writeHead(status, { 'content-type': 'application/xml', ...headers });
  outgoing.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${code}</Message></Error>`);
}

function forward(
  { target, agent }: Route,
  incoming: IncomingMessage,
  body: Readable,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { method = 'GET', url = '/' } = incoming;
    const upstream = request(target + url, { method, agent, headers: headersOf(incoming) }, resolve);
    upstream.on('error', reject);
    incoming.on('close', () => {
      if (!incoming.complete) upstream.destroy(new Error('the sender is gone'));
    });
    pipeline(body, upstream).catch(reject);
  });
}

/** All headers as they came; repeated ones stay repeated. */
function headersOf(incoming: IncomingMessage): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [name, values] of Object.entries(incoming.headersDistinct)) {
    const [only, ...more] = values ?? [];
    if (values !== undefined && only !== undefined) headers[name] = more.length === 0 ? only : values;
  }
  return headers;
}

function faultyBody(incoming: IncomingMessage, fault: ProxyFault | null, faultsEnded: AbortSignal): Readable {
  if (fault?.kind === 'resetAfter') return incoming.pipe(cut(fault.bytes));
  if (fault?.kind === 'slow') return incoming.pipe(throttle(fault.bytesPerSecond, faultsEnded));
  return incoming;
}

/** The rate holds for the body as a whole: a timer for each chunk would make tiny chunks far slower than it. */
function throttle(bytesPerSecond: number, faultsEnded: AbortSignal): Transform {
  const began = performance.now();
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      const early = began + (bytes / bytesPerSecond) * 1_000 - performance.now();
      if (early < 1) done(null, chunk);
      else void pause(early, faultsEnded).then(() => done(null, chunk));
    },
  });
}

function pause(ms: number, faultsEnded: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal: faultsEnded }).catch(() => undefined);
}

/** Fails after this number of bytes; passes everything when null. */
function cut(bytes: number | null): Transform {
  if (bytes === null) return new PassThrough();
  let left = bytes;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) done(new Error('cut'));
      else done(null, chunk);
    },
  });
}
