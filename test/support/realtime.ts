import { WebSocket } from 'ws';
import type {
  RealtimeSimulator,
  RealtimeSimulatorOptions,
} from '../../src/simulator/realtime/realtime-interface.js';
import { startRealtimeSimulator } from '../../src/simulator/realtime/realtime-simulator.js';
import type { SessionScript } from '../../src/simulator/realtime/session-script.js';
import {
  type RealtimeSession,
  type SessionOptions,
  type StartOptions,
  startSession,
} from '../../src/speech/realtime/realtime.js';

export const API_KEY = 'api-key-for-tests';
export const RT_KEY = 'temporary.rt.key';

/** 16 kHz pcm_s16le: 32 000 bytes a second. */
export const PCM = { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 } as const;
export const PCM_BYTES_PER_SECOND = 32_000;

export function silence(seconds: number): Uint8Array {
  return new Uint8Array(Math.round(seconds * PCM_BYTES_PER_SECOND));
}

/** A simulator that knows the keys above, and everything started with it, to be ended with it. */
export async function withSimulator(
  options: Partial<RealtimeSimulatorOptions> & { readonly first?: SessionScript },
  run: (simulator: RealtimeSimulator, start: Starter) => Promise<void>,
): Promise<void> {
  const { first, ...rest } = options;
  const simulator = await startRealtimeSimulator({
    verifyKey: (token) => (token === API_KEY || token === RT_KEY ? 'ok' : 'not_authorised'),
    script: (index) => (index === 0 ? first : undefined),
    ...rest,
  });
  try {
    await run(simulator, (overrides) => startSession(startOptions(simulator, overrides)));
  } finally {
    await simulator.close();
  }
}

export type Starter = (overrides?: Partial<StartOptions>) => Promise<RealtimeSession>;

export function sessionOptions(
  simulator: RealtimeSimulator,
  overrides: Partial<SessionOptions> = {},
): SessionOptions {
  return { hosts: { global: simulator.origin }, credential: { apiKey: API_KEY }, ...overrides };
}

export function startOptions(
  simulator: RealtimeSimulator,
  overrides: Partial<StartOptions> = {},
): StartOptions {
  return {
    ...sessionOptions(simulator),
    audioFormat: PCM,
    transcriptionConfig: { language: 'en' },
    ...overrides,
  };
}

/** A bare connection: sends given messages and collects those of the service. */
export interface RawClient {
  send(data: string | Uint8Array | object): void;
  /** The next message of the service. */
  next(): Promise<Record<string, unknown>>;
  /** The next message of that name; skips others. */
  until(name: string): Promise<Record<string, unknown>>;
  readonly closed: Promise<number>;
}

export async function rawClient(
  simulator: Pick<RealtimeSimulator, 'origin'>,
  path = '/v2',
  key = API_KEY,
): Promise<RawClient> {
  const socket = new WebSocket(`${simulator.origin}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const messages: Record<string, unknown>[] = [];
  let arrived: () => void = () => {};
  socket.on('message', (data) => {
    messages.push(JSON.parse(String(data)) as Record<string, unknown>);
    arrived();
  });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const next = async (): Promise<Record<string, unknown>> => {
    for (;;) {
      const message = messages.shift();
      if (message !== undefined) return message;
      await new Promise<void>((resolve) => {
        arrived = resolve;
      });
    }
  };
  return {
    send: (data) =>
      socket.send(typeof data === 'string' || data instanceof Uint8Array ? data : JSON.stringify(data)),
    next,
    until: async (name) => {
      for (;;) {
        const message = await next();
        if (message.message === name) return message;
      }
    },
    closed,
  };
}

/** Settles with the error a promise rejects with; fails when it does not reject. */
export async function failure<E extends Error>(
  type: abstract new (...args: never[]) => E,
  promise: Promise<unknown>,
): Promise<E> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof type) return error;
    throw error;
  }
  throw new Error(`expected ${type.name}`);
}
