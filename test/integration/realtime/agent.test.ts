import { describe, expect, it } from '@jest/globals';
import {
  RealtimeSessionError,
  transcriptSrt,
  transcriptText,
} from '../../../src/speech/realtime/realtime.js';
import { failure, RT_KEY, silence, withSimulator } from '../../support/realtime.js';

const AGENT = { service: 'agent', transcriptionConfig: { language: 'en', enable_partials: true } } as const;

describe('an agent session', () => {
  // Rule: Realtime: Regional hosts and WebSocket connections: agent path /v2/agent
  // Rule: Realtime: Authentication: an `rt` key opens any number of sessions, realtime and agent, on every host
  it('connects to /v2/agent with an API key or a temporary rt key', () =>
    withSimulator({}, async (simulator, start) => {
      await (await start(AGENT)).end();
      await (await start({ ...AGENT, credential: { jwt: RT_KEY } })).end();
      expect(simulator.upgrades.map(({ url }) => url)).toEqual(['/v2/agent', `/v2/agent?jwt=${RT_KEY}`]);
    }));

  // Rule: Realtime: Beyond the specification: agent: `AddPartialSegment`, `AddSegment`, `StartOfTurn`, `EndOfTurn`, `SpeechStarted`, `SpeechEnded`
  it('types turns, speech and segments', () =>
    withSimulator({}, async (_simulator, start) => {
      const session = await start(AGENT);
      const names: string[] = [];
      for (const name of [
        'StartOfTurn',
        'SpeechStarted',
        'AddPartialSegment',
        'AddSegment',
        'SpeechEnded',
        'EndOfTurn',
      ] as const) {
        session.on(name, (message) => names.push(message.message));
      }
      await session.stream([silence(1.2)]);
      expect(names).toEqual([
        'StartOfTurn',
        'SpeechStarted',
        'AddPartialSegment',
        'AddPartialSegment',
        'AddPartialSegment',
        'AddSegment',
        'SpeechEnded',
        'EndOfTurn',
      ]);
    }));

  // Rule: Realtime: Beyond the specification: agent: speaker `S1`
  it('assembles its segments with their speakers', () =>
    withSimulator({}, async (_simulator, start) => {
      const { segments, service } = await (await start(AGENT)).stream([silence(4)]);
      expect(service).toBe('agent');
      expect(transcriptText(segments)).toBe('S1: Welcome to this call we are glad.\nS1: That you could\n');
      expect(transcriptSrt(segments)).toContain(
        '00:00:00,000 --> 00:00:02,750\nS1: Welcome to this call we are glad.',
      );
    }));

  // Rule: Realtime: Beyond the specification: agent: everything else raw
  it('passes configuration fields the document does not show', () =>
    withSimulator({}, async (simulator, start) => {
      const config = { language: 'en', end_of_turn: { silence: 1 } };
      const error = await failure(RealtimeSessionError, start({ ...AGENT, transcriptionConfig: config }));
      expect(error.type).toBe('invalid_config');
      expect(simulator.sessions[0]?.received[0]).toContain('end_of_turn');
    }));
});
