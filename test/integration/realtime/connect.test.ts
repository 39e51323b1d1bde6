import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { WebSocket as BrowserLikeWebSocket } from 'undici';
import type { SessionScript } from '../../../src/simulator/realtime/session-script.js';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import {
  connectSession,
  connectWithWebSocket,
  RealtimeConfigError,
  RealtimeConnectError,
  type RealtimeCredential,
  type RealtimeSession,
  RealtimeSessionError,
  startSession,
  type WebSocketLike,
} from '../../../src/speech/realtime/realtime.js';
import { createSpeechClients } from '../../../src/speech/speech.js';
import {
  API_KEY,
  failure,
  PCM,
  RT_KEY,
  sessionOptions,
  silence,
  withSimulator,
} from '../../support/realtime.js';

/** A port without a listener. */
async function deadOrigin(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return `ws://127.0.0.1:${port}`;
}

const browser = connectWithWebSocket(BrowserLikeWebSocket as unknown as new (url: string) => WebSocketLike);

const firstTwo = (script: SessionScript) => (index: number) => (index < 2 ? script : undefined);

const threeHosts = ({ origin }: { readonly origin: string }) => ({
  us1: origin,
  global: origin,
  eu1: origin,
});

describe('connecting', () => {
  // Rule: Realtime: Regional hosts and WebSocket connections: realtime path /v2
  // Rule: Realtime: Authentication: API key in the upgrade's `authorization`
  it('sends an API key in the Authorization header of the upgrade to /v2', () =>
    withSimulator({}, async (simulator) => {
      const session = await connectSession(sessionOptions(simulator));
      expect(simulator.upgrades[0]).toMatchObject({
        url: '/v2',
        headers: { authorization: `Bearer ${API_KEY}` },
      });
      session.abort();
    }));

  // Rule: Realtime: Authentication: temporary key in `jwt`
  it('sends a temporary key in the query parameter jwt, and no header', () =>
    withSimulator({}, async (simulator) => {
      const session = await connectSession(sessionOptions(simulator, { credential: { jwt: RT_KEY } }));
      expect(simulator.upgrades[0]?.url).toBe(`/v2?jwt=${RT_KEY}`);
      expect(simulator.upgrades[0]?.headers.authorization).toBeUndefined();
      session.abort();
    }));

  // Rule: Realtime: Authentication: keys expire
  it('asks for a fresh credential at each attempt', () =>
    withSimulator(
      { script: (index) => (index === 0 ? { refuseUpgrade: 503 } : undefined) },
      async (simulator) => {
        let asked = 0;
        const credential = async () => {
          asked += 1;
          return { jwt: `${RT_KEY}${asked}` };
        };
        const hosts = { global: simulator.origin, eu1: simulator.origin };
        (await connectSession({ hosts, credential })).abort();
        expect(simulator.upgrades.map(({ url }) => url)).toEqual([
          `/v2?jwt=${RT_KEY}1`,
          `/v2?jwt=${RT_KEY}2`,
        ]);
      },
    ));

  // Rule: Realtime: Authentication: temporary key in `jwt`
  it('runs a whole session over a WHATWG WebSocket with a temporary key', () =>
    withSimulator({}, async (simulator) => {
      const options = sessionOptions(simulator, { credential: { jwt: RT_KEY }, connector: browser });
      const session = await connectSession(options);
      await session.start(PCM, { language: 'en' });
      const report = await session.stream([silence(1), silence(2)]);
      expect(report).toMatchObject({ complete: true, acknowledged: { seconds: 3 } });
      await session.closed;
    }));

  // Rule: Realtime: Authentication: temporary key in `jwt`
  it('cannot send an API key with a WHATWG WebSocket, and says so', () =>
    withSimulator({}, async (simulator) => {
      const options = sessionOptions(simulator, { connector: browser });
      const error = await failure(RealtimeConnectError, connectSession(options));
      expect(error.message).toContain('use a temporary key');
      expect(error.retryable).toBe(false);
    }));

  it('reports a refused WHATWG WebSocket without a status', () =>
    withSimulator({ first: { refuseUpgrade: 403 } }, async (simulator) => {
      const options = sessionOptions(simulator, { credential: { jwt: RT_KEY }, connector: browser });
      const error = await failure(RealtimeConnectError, connectSession(options));
      expect(error.attempts).toEqual([{ region: 'global', status: null, detail: 'cannot connect' }]);
    }));

  // Rule: Realtime: Regional hosts and WebSocket connections: failover only while connecting
  // Rule: Silences: handshake statuses, close and error codes
  it.each([400, 401, 403, 404, 405])('does not try another region after HTTP %i', (status) =>
    withSimulator({ script: () => ({ refuseUpgrade: status }) }, async (simulator) => {
      const hosts = { global: simulator.origin, eu1: simulator.origin };
      const error = await failure(RealtimeConnectError, connectSession(sessionOptions(simulator, { hosts })));
      expect(error).toMatchObject({ status, retryable: false });
      expect(simulator.upgrades).toHaveLength(1);
    }),
  );

  // Rule: Realtime: Regional hosts and WebSocket connections: failover only while connecting
  it.each([429, 503])('fails over to another region after HTTP %i', (status) =>
    withSimulator({ script: firstTwo({ refuseUpgrade: status }) }, async (simulator) => {
      const session = await connectSession(sessionOptions(simulator, { hosts: threeHosts(simulator) }));
      expect(session.region).toBe('us1');
      session.abort();
    }),
  );

  // Rule: Realtime: Regional hosts and WebSocket connections: failover only while connecting
  it('fails over to another region after silence', () =>
    withSimulator({ script: firstTwo({ ignoreUpgrade: true }) }, async (simulator) => {
      const late: AbortController[] = [];
      const timeout = jest.spyOn(AbortSignal, 'timeout').mockImplementation(() => {
        late.push(new AbortController());
        return late.at(-1)?.signal as AbortSignal;
      });
      try {
        const options = sessionOptions(simulator, {
          hosts: threeHosts(simulator),
          handshakeTimeoutMs: 2_000,
        });
        const connecting = connectSession(options);
        for (const attempt of [0, 1]) {
          await simulator.upgrade(attempt);
          late[attempt]?.abort(new DOMException('late', 'TimeoutError'));
        }
        const session = await connecting;
        expect(session.region).toBe('us1');
        expect(timeout.mock.calls).toEqual([[2_000], [2_000], [2_000]]);
        session.abort();
      } finally {
        timeout.mockRestore();
      }
    }));

  // Rule: Realtime: Regional hosts and WebSocket connections: global and regional hosts: `global`, `eu1`, `au1`
  it('fails over when a connection is refused, global host first', () =>
    withSimulator({}, async (simulator) => {
      const hosts = { au1: simulator.origin, global: await deadOrigin() };
      const session = await connectSession(sessionOptions(simulator, { hosts }));
      expect(session.region).toBe('au1');
      session.abort();
    }));

  // Rule: Realtime: Regional hosts and WebSocket connections: a regional host is never left
  it('never leaves a pinned region', () =>
    withSimulator({}, async (simulator) => {
      const hosts = { global: simulator.origin, eu1: await deadOrigin(), us1: simulator.origin };
      const options = sessionOptions(simulator, { hosts, region: 'eu1' });
      const error = await failure(RealtimeConnectError, connectSession(options));
      expect(error.attempts).toEqual([
        { region: 'eu1', status: null, detail: 'cannot connect (ECONNREFUSED)' },
      ]);
      expect(error.retryable).toBe(true);
      expect(simulator.upgrades).toEqual([]);
    }));

  // Rule: Realtime: Regional hosts and WebSocket connections: a regional host is never left
  it('does not follow a redirect, which would take key and audio elsewhere', () =>
    withSimulator({ first: { refuseUpgrade: 307 } }, async (simulator) => {
      const error = await failure(RealtimeConnectError, connectSession(sessionOptions(simulator)));
      expect(error.status).toBe(307);
      expect(simulator.upgrades).toHaveLength(1);
    }));

  it('leaves no connection behind when a refusal does not end', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const connected = once(server, 'connection');
    const { port } = server.address() as { port: number };
    const connecting = connectSession({
      hosts: { global: `ws://127.0.0.1:${port}` },
      credential: { apiKey: API_KEY },
    });
    const [socket] = (await connected) as [Socket];
    const gone = once(socket, 'close');
    socket.on('error', () => {}).resume();
    socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 1000000\r\n\r\nnot all of it');
    expect(await failure(RealtimeConnectError, connecting)).toMatchObject({ status: 403 });
    await gone;
    server.close();
  });

  // Rule: Realtime: Regional hosts and WebSocket connections: failover only while connecting
  it('does not fail over once connected', () =>
    withSimulator({ first: { faults: [{ at: 'start', act: { do: 'drop' } }] } }, async (simulator) => {
      const hosts = { global: simulator.origin, eu1: simulator.origin };
      const session = await connectSession(sessionOptions(simulator, { hosts }));
      await expect(session.start(PCM, { language: 'en' })).rejects.toThrow('1006');
      expect(simulator.upgrades).toHaveLength(1);
    }));

  // Rule: Realtime: Authentication: no key, HTTP 401
  // Rule: Contradictions: live, wrong key: 401, or `not_authorised`
  it('gets 401 for a connection without a key', () =>
    withSimulator({}, async (simulator) => {
      const response = await fetch(`${simulator.origin.replace('ws', 'http')}/v2`).then(
        ({ status }) => status,
      );
      expect(response).toBe(426);
      const error = await failure(
        RealtimeConnectError,
        connectSession(sessionOptions(simulator, { connector: keyless })),
      );
      expect(error.status).toBe(401);
    }));

  // Rule: Realtime: Authentication: keys stay secret
  it('keeps keys out of its errors', () =>
    withSimulator({ first: { refuseUpgrade: 503 } }, async (simulator) => {
      const options = sessionOptions(simulator, { credential: { jwt: RT_KEY } });
      const error = await failure(RealtimeConnectError, connectSession(options));
      expect(JSON.stringify(error) + error.message).not.toContain(RT_KEY);
    }));

  it('stops trying when the caller gives up', () =>
    withSimulator({ script: () => ({ ignoreUpgrade: true }) }, async (simulator) => {
      const abort = new AbortController();
      const hosts = { global: simulator.origin, eu1: simulator.origin };
      const connecting = connectSession(sessionOptions(simulator, { hosts, signal: abort.signal }));
      const request = await simulator.upgrade(0);
      const gone = once(request.socket, 'close');
      abort.abort(new Error('no patience'));
      await expect(connecting).rejects.toThrow('no patience');
      await gone;
      expect(simulator.upgrades).toHaveLength(1);
    }));

  // Rule: Realtime: Authentication: API key in the upgrade's `authorization`
  it('refuses a key that is no header value before connecting', () =>
    withSimulator({}, async (simulator) => {
      const options = sessionOptions(simulator, { credential: { apiKey: 'two words' } });
      await failure(RealtimeConfigError, connectSession(options));
      expect(simulator.upgrades).toEqual([]);
    }));
});

const keyless: NonNullable<Parameters<typeof connectSession>[0]['connector']> = async (request) => {
  const { connectWithWs } = await import('../../../src/speech/realtime/socket/ws-socket.js');
  return connectWithWs()({ ...request, headers: {} });
};

describe('keys of the key service', () => {
  /** Temporary keys as the key service makes them, used on the realtime host. */
  let simulator: Simulator;

  beforeAll(async () => {
    simulator = await createSimulator({ regions: { eu1: 0 }, realtimePort: 0 });
  });
  afterAll(() => simulator.close());

  function start(
    credential: RealtimeCredential,
    service: 'realtime' | 'agent' = 'realtime',
  ): Promise<RealtimeSession> {
    return startSession({
      hosts: { global: simulator.realtimeUrl ?? '' },
      service,
      credential,
      audioFormat: PCM,
      transcriptionConfig: { language: 'en' },
    });
  }

  // Rule: Realtime: Authentication: an `rt` key opens any number of sessions, realtime and agent, on every host
  it('of type rt start any number of sessions, realtime and agent', async () => {
    const clients = createSpeechClients({
      apiKey: simulator.apiKey,
      keysUrl: simulator.keysUrl,
      regions: {},
    });
    const { value: jwt } = await clients.keys().create({ type: 'rt', ttlSeconds: 60 });
    await clients.close();
    const sessions = await Promise.all([start({ jwt }), start({ jwt }), start({ jwt }, 'agent')]);
    const reports = await Promise.all(sessions.map((session) => session.stream([silence(1)])));
    expect(reports.map(({ complete }) => complete)).toEqual([true, true, true]);
  });

  it('start sessions with the API key itself in the header', async () => {
    expect(await (await start({ apiKey: simulator.apiKey })).end()).toMatchObject({ complete: true });
  });

  it.each<[string, () => Promise<RealtimeCredential>]>([
    ['of type batch', async () => ({ jwt: await simulator.issueKey('batch', 60) })],
    ['that have expired', async () => ({ jwt: await simulator.issueKey('rt', -1) })],
    ['that were never issued', async () => ({ jwt: 'x.y.z' })],
    ['that are the API key, put into the address', async () => ({ jwt: simulator.apiKey })],
    // Rule: Authentication: a `batch` key starts no session
    // Rule: Realtime: Authentication: unknown keys are `not_authorised`
    // Rule: Realtime: Authentication: a `batch` key is for the batch API
  ])('%s are not authorised', async (_name, credential) => {
    const error = await failure(RealtimeSessionError, start(await credential()));
    expect(error).toMatchObject({ type: 'not_authorised', retryable: false });
  });
});
