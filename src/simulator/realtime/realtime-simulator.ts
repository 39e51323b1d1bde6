import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { AudioBufferLimits } from './audio-buffer.js';
import type {
  KeyVerdict,
  RealtimeSimulator,
  RealtimeSimulatorOptions,
  SimulatedSession,
} from './realtime-interface.js';
import { ServedSession, type ServedSessionOptions } from './served-session.js';
import type { SessionScript } from './session-script.js';

const SERVICES: Readonly<Record<string, 'realtime' | 'agent'>> = { '/v2': 'realtime', '/v2/agent': 'agent' };
const LIMITS: AudioBufferLimits = {
  bufferSeconds: 5,
  aheadSeconds: 10,
  aheadFrames: 500,
  frameBytes: 1024 * 1024,
};

/**
 * Starts a simulator of the realtime and agent hosts of one region that enforces every rule of the protocol.
 *
 * @example
 * const simulator = await startRealtimeSimulator({ verifyKey: () => 'ok' });
 * const session = await connectSession({ hosts: { global: simulator.origin }, credential: { apiKey: 'any' } });
 * await simulator.close();
 */
export async function startRealtimeSimulator(options: RealtimeSimulatorOptions): Promise<RealtimeSimulator> {
  const server = createServer((_request, response) => response.writeHead(426).end());
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const sessions = createArrivals<SimulatedSession>();
  const upgrades = createArrivals<IncomingMessage>();
  const connections = new Set<Duplex>();

  server.on('connection', (socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
  });
  server.on('upgrade', (request, socket, head) => {
    const script = options.script?.(upgrades.all.length) ?? {};
    upgrades.add(request);
    if (script.ignoreUpgrade === true) {
      // Without reading, the end of the client's connection would go unnoticed.
      socket
        .on('error', () => {})
        .on('end', () => socket.destroy())
        .resume();
      return;
    }
    const entry = admit(request, script);
    if (typeof entry === 'number') return refuse(socket, entry);
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const verdict = judge(options, entry);
      sessions.add(
        new ServedSession(webSocket, {
          ...sessionOptions(options, entry.service, verdict, script),
          cut: () => socket.end(),
        }),
      );
    });
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
  });
  const { address, port } = server.address() as AddressInfo;
  return {
    origin: `ws://${address.includes(':') ? `[${address}]` : address}:${port}`,
    sessions: sessions.all,
    upgrades: upgrades.all,
    session: sessions.nth,
    upgrade: upgrades.nth,
    close: async () => {
      for (const socket of connections) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

interface Entry {
  readonly service: 'realtime' | 'agent';
  readonly token: string;
  readonly placement: 'header' | 'jwt';
}

/** The entry of a connection, or the status with which its upgrade is rejected. */
function admit(request: IncomingMessage, script: SessionScript): Entry | number {
  if (script.refuseUpgrade !== undefined) return script.refuseUpgrade;
  const target = `ws://simulator${request.url ?? '/'}`;
  if (!URL.canParse(target)) return 400;
  const url = new URL(target);
  const service = Object.hasOwn(SERVICES, url.pathname) ? SERVICES[url.pathname] : undefined;
  if (service === undefined) return 404;
  if (request.method !== 'GET') return 405;
  const bearer = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
  const jwt = url.searchParams.get('jwt');
  if (bearer !== undefined && jwt !== null) return 400;
  if (bearer !== undefined) return { service, token: bearer, placement: 'header' };
  return jwt === null || jwt === '' ? 401 : { service, token: jwt, placement: 'jwt' };
}

async function judge(options: RealtimeSimulatorOptions, { token, placement }: Entry): Promise<KeyVerdict> {
  try {
    return await options.verifyKey(token, placement);
  } catch {
    return 'not_authorised';
  }
}

function refuse(socket: Duplex, status: number): void {
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

function sessionOptions(
  options: RealtimeSimulatorOptions,
  service: 'realtime' | 'agent',
  verdict: Promise<KeyVerdict>,
  script: SessionScript,
): Omit<ServedSessionOptions, 'cut'> {
  return {
    service,
    verdict,
    limits: { ...LIMITS, ...options.limits },
    processing: options.processing ?? 'instant',
    durationLimitSeconds: options.durationLimitSeconds ?? Number.POSITIVE_INFINITY,
    script,
  };
}

/** A list with a promise for each entry, present or future. */
function createArrivals<T>() {
  const all: T[] = [];
  const waiting = new Map<number, ((value: T) => void)[]>();
  return {
    all,
    add(value: T): void {
      all.push(value);
      for (const resolve of waiting.get(all.length - 1) ?? []) resolve(value);
      waiting.delete(all.length - 1);
    },
    /** Settles with the n-th value (from 0) as soon as it is there. */
    nth: (index: number): Promise<T> =>
      new Promise((resolve) => {
        const value = all[index];
        if (value === undefined) waiting.set(index, [...(waiting.get(index) ?? []), resolve]);
        else resolve(value);
      }),
  };
}
