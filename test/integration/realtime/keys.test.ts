import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createSimulator, type Simulator } from '../../../src/simulator/simulator.js';
import {
  type RealtimeCredential,
  type RealtimeSession,
  RealtimeSessionError,
  startSession,
} from '../../../src/speech/realtime/realtime.js';
import { createSpeechClients } from '../../../src/speech/speech.js';
import { failure, PCM, silence } from '../../support/realtime.js';

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

describe('keys of the key service', () => {
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
