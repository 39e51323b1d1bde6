import { describe, expect, it } from '@jest/globals';
import {
  connectSession,
  RealtimeConfigError,
  RealtimeProtocolError,
  RealtimeSessionError,
  type SessionState,
  startSession,
  type TranscriptSegment,
  transcriptText,
} from '../../../src/speech/realtime/realtime.js';
import {
  failure,
  PCM,
  PCM_BYTES_PER_SECOND,
  RT_KEY,
  sessionOptions,
  silence,
  startOptions,
  withSimulator,
} from '../../support/realtime.js';

const CONFIG = { language: 'en' } as const;

const jsonOf = (received: readonly (string | number)[]): unknown[] =>
  received.filter((each) => typeof each === 'string').map((text) => JSON.parse(String(text)));

describe('a session', () => {
  // Rule: Realtime: Session: Connected, Started, Ending, Finished, Closed
  // Rule: Realtime: Session: client disconnects after `EndOfTranscript`
  it('moves Connected, Started, Ending, Finished, Closed', () =>
    withSimulator({}, async (simulator) => {
      const states: SessionState[] = [];
      const session = await connectSession(sessionOptions(simulator));
      session.on('state', (state) => states.push(state));
      expect(session.state).toBe('connected');
      await session.start(PCM, CONFIG);
      await session.sendAudio(silence(1));
      await session.end();
      await session.closed;
      expect(states).toEqual(['started', 'ending', 'finished', 'closed']);
    }));

  // Rule: Realtime: TranscriptionConfig: all fields reach the service: `additional_vocab`, `diarization`, `enable_partials`, `max_delay`,
  // `output_locale`, `punctuation_overrides`, `speaker_change_sensitivity` Rule: Realtime: Client-to-server messages: `StartRecognition`:
  // `audio_format` and `transcription_config`, sent first
  it('sends StartRecognition first and once, with audio_format and transcription_config as given', () =>
    withSimulator({}, async (simulator, start) => {
      const config = {
        language: 'en',
        additional_vocab: ['gnocchi', { content: 'CEO', sounds_like: ['seeoh'] as [string] }],
        diarization: 'speaker_change',
        enable_partials: true,
        max_delay: 5,
        output_locale: 'en-GB',
        punctuation_overrides: { permitted_marks: ['.', ','], sensitivity: 0.4 },
        speaker_change_sensitivity: 0.6,
      } as const;
      await (await start({ transcriptionConfig: config })).end();
      const sent = { message: 'StartRecognition', audio_format: PCM, transcription_config: config };
      expect(jsonOf(simulator.sessions[0]?.received ?? [])[0]).toEqual(sent);
    }));

  // Rule: Realtime: Client-to-server messages: AddAudio: frames counted from 1
  // Rule: Realtime: Client-to-server messages: `last_seq_no`: number of frames sent
  // Rule: Contradictions: `last_seq_no`: frames sent, or acknowledged
  it('counts its frames in last_seq_no', () =>
    withSimulator({}, async (simulator, start) => {
      const session = await start({ audio: { frameBytes: 3200 } });
      await session.sendAudio(silence(1));
      const report = await session.end();
      expect(report.sent).toEqual({ frames: 10, bytes: 32_000, seconds: 1 });
      expect(report.acknowledged).toEqual(report.sent);
      expect(jsonOf(simulator.sessions[0]?.received ?? []).at(-1)).toEqual({
        message: 'EndOfStream',
        last_seq_no: 10,
      });
    }));

  // Rule: Realtime: Session: EndOfStream even without audio
  it('ends a stream without audio with last_seq_no 0', () =>
    withSimulator({}, async (simulator, start) => {
      const report = await (await start()).end();
      expect(report).toMatchObject({ complete: true, segments: [] });
      expect(jsonOf(simulator.sessions[0]?.received ?? []).at(-1)).toEqual({
        message: 'EndOfStream',
        last_seq_no: 0,
      });
    }));

  // Rule: Realtime: Session: `SetRecognitionConfig` applies
  // Rule: Realtime: Client-to-server messages: `SetRecognitionConfig`: `language` mandatory
  it('changes max_delay and enable_partials while started', () =>
    withSimulator({}, async (simulator, start) => {
      const session = await start({ transcriptionConfig: { ...CONFIG, max_delay: 4 } });
      const partials: TranscriptSegment[] = [];
      session.on('segment', (segment) => segment.kind === 'partial' && partials.push(segment));
      session.setRecognitionConfig({ enable_partials: true });
      await session.sendAudio(silence(2));
      const report = await session.end();
      expect(partials.length).toBeGreaterThan(0);
      expect(jsonOf(simulator.sessions[0]?.received ?? [])[1]).toEqual({
        message: 'SetRecognitionConfig',
        transcription_config: { language: 'en', max_delay: 4, enable_partials: true },
      });
      expect(report.transcriptionConfig).toEqual({ ...CONFIG, max_delay: 4, enable_partials: true });
    }));

  // Rule: Realtime: Transcript message body: times are relative to the segment
  // Rule: Realtime: Server-to-client messages: `AddTranscript` covers audio since the last
  it('hands on every final and partial, in order, with absolute times', () =>
    withSimulator({}, async (_simulator, start) => {
      const session = await start({ transcriptionConfig: { ...CONFIG, enable_partials: true } });
      const seen: TranscriptSegment[] = [];
      session.on('segment', (segment) => seen.push(segment));
      for (let second = 0; second < 8; second += 1) await session.sendAudio(silence(1));
      const report = await session.end();
      expect(seen.filter((segment) => segment.kind === 'final')).toEqual(report.segments);
      const words = report.segments
        .flatMap((segment) => segment.results)
        .filter(({ type }) => type === 'word');
      expect(words.map((word) => word.start_time)).toEqual(
        Array.from({ length: 20 }, (_, index) => Math.round(index * 400) / 1000),
      );
    }));

  // Rule: Realtime: TranscriptionConfig: `enable_partials` is a boolean, default false
  // Rule: Realtime: Transcript message body: `confidence` is 0 in partials
  // Rule: Realtime: Server-to-client messages: `AddPartialTranscript` only with enable_partials
  it('gives partial transcripts confidence 0, and sends none unless asked', () =>
    withSimulator({}, async (_simulator, start) => {
      const silent = await start();
      const partials: number[] = [];
      silent.on('AddPartialTranscript', () => partials.push(-1));
      await silent.stream([silence(4)]);
      expect(partials).toEqual([]);
      const session = await start({ transcriptionConfig: { ...CONFIG, enable_partials: true } });
      session.on('AddPartialTranscript', ({ results }) =>
        partials.push(
          ...results.flatMap((result) => result.alternatives ?? []).map((each) => each.confidence),
        ),
      );
      await session.stream([silence(4)]);
      expect(new Set(partials)).toEqual(new Set([0]));
    }));

  // Rule: Realtime: TranscriptionConfig: `max_delay` bounds finals
  // Rule: Contradictions: `max_delay` bounds partials, or finals
  it('makes a segment final after max_delay where no sentence ends', () =>
    withSimulator({}, async (_simulator, start) => {
      const session = await start({ transcriptionConfig: { ...CONFIG, max_delay: 2 } });
      const report = await session.stream([silence(2.1)]);
      expect(report.segments[0]).toMatchObject({ start: 0, text: 'Welcome to this call we ' });
    }));

  // Rule: Realtime: TranscriptionConfig: speaker_change marks changes
  // Rule: Realtime: Transcript message body: `speaker_change`: no duration, no `alternatives`
  it('shows speaker changes when diarization asks for them', () =>
    withSimulator({}, async (_simulator, start) => {
      const session = await start({ transcriptionConfig: { ...CONFIG, diarization: 'speaker_change' } });
      const { segments } = await session.stream([silence(6)]);
      expect(segments.map(({ results }) => results[0]?.type)).toEqual(['word', 'speaker_change', 'word']);
      expect(segments[1]?.results[0]).toMatchObject({ start_time: 2.8, end_time: 2.8, alternatives: [] });
    }));

  // Rule: Realtime: Transcript message body: `is_eos` on punctuation
  it('marks the end of a sentence on its punctuation', () =>
    withSimulator({}, async (_simulator, start) => {
      const { segments } = await (await start()).stream([silence(3)]);
      expect(segments[0]?.results.at(-1)).toMatchObject({
        type: 'punctuation',
        is_eos: true,
        start_time: 2.75,
      });
      expect(transcriptText(segments)).toBe('Welcome to this call we are glad.\n');
    }));

  it.each([
    ['broadcast', 12_000],
    ['telephony', 8000],
    // Rule: Realtime: Server-to-client messages: Info `recognition_quality`: `broadcast` from 12 kHz, else `telephony`
  ])('passes on Info recognition_quality %s at %i Hz', (quality, sample_rate) =>
    withSimulator({}, async (_simulator, start) => {
      const session = await start({ audioFormat: { ...PCM, sample_rate } });
      const { notices } = await session.end();
      expect(notices).toEqual([
        expect.objectContaining({ message: 'Info', type: 'recognition_quality', quality }),
      ]);
    }),
  );

  it('goes on over notices that lack type or reason', () => {
    const frames = ['{"message":"Info","type":"later"}', '{"message":"Warning"}'];
    const faults = frames.map((frame, at) => ({ at: at + 1, act: { do: 'send', frame } as const }));
    return withSimulator({ first: { faults } }, async (_simulator, start) => {
      const session = await start();
      const report = await session.stream([silence(0.1), silence(0.1), silence(3)]);
      expect(report.complete).toBe(true);
      expect(report.notices).toEqual(
        expect.arrayContaining([
          { message: 'Info', type: 'later', reason: '' },
          { message: 'Warning', type: 'unknown', reason: '' },
        ]),
      );
    });
  });

  // Rule: Realtime: Server-to-client messages: Info `model_redirect`, Info `deprecated`
  it('passes on Info model_redirect and deprecated', () =>
    withSimulator({ first: { deprecated: 'diarization will go' } }, async (_simulator, start) => {
      const { notices } = await (await start({ transcriptionConfig: { language: 'en-GB' } })).end();
      expect(notices.map(({ type }) => type)).toEqual([
        'recognition_quality',
        'model_redirect',
        'deprecated',
      ]);
    }));

  // Rule: Realtime: Protocol objects: names are an open set
  it('passes messages of unknown names through raw', () => {
    const frame = JSON.stringify({ message: 'AudioEventStarted', event: { type: 'music' } });
    const first = { faults: [{ at: 1, act: { do: 'send', frame } }] } as const;
    return withSimulator({ first }, async (_simulator, start) => {
      const session = await start();
      const unknown: unknown[] = [];
      session.on('unknown', (message) => unknown.push(message));
      await session.stream([silence(0.1)]);
      expect(unknown).toEqual([{ message: 'unknown', name: 'AudioEventStarted', raw: JSON.parse(frame) }]);
    });
  });

  // Rule: Realtime: Server-to-client messages: messages interleave
  it('hands on every message under its name, until EndOfTranscript', () =>
    withSimulator({}, async (simulator) => {
      const session = await connectSession(sessionOptions(simulator));
      const names: string[] = [];
      const expected = [
        'RecognitionStarted',
        'Info',
        'AudioAdded',
        'AddTranscript',
        'EndOfTranscript',
      ] as const;
      for (const name of expected) session.on(name, ({ message }) => names.push(message));
      await session.start(PCM, CONFIG);
      await session.stream([silence(0.4)]);
      expect(names).toEqual(expected);
    }));

  it.each([
    ['pcm_f32le', 4],
    ['pcm_s16le', 2],
    ['mulaw', 1],
    // Rule: Realtime: AudioType: `pcm_f32le` 4 bytes, `pcm_s16le` 2, `mulaw` 1
  ] as const)('streams %s in whole samples of %i bytes, however the chunks are cut', (encoding, size) =>
    withSimulator({}, async (simulator, start) => {
      const session = await start({ audioFormat: { type: 'raw', encoding, sample_rate: 8000 } });
      for (const bytes of [1, 2, 3, 5, 13]) await session.sendAudio(new Uint8Array(bytes));
      const { acknowledged } = await session.end();
      expect(acknowledged).toMatchObject({ bytes: 24, seconds: 24 / size / 8000 });
      const frames = simulator.sessions[0]?.received.filter((each) => typeof each === 'number') ?? [];
      expect(frames.every((bytes) => Number(bytes) % size === 0)).toBe(true);
    }),
  );

  // Rule: Realtime: AudioType: `file`: the file in frames
  // Rule: Silences: sizes of media and frames
  it('sends a file as it is, in frames of bounded size, and knows no seconds', () =>
    withSimulator({}, async (simulator, start) => {
      const session = await start({ audioFormat: { type: 'file' } });
      const { acknowledged } = await session.stream([new Uint8Array(40_001)]);
      expect(acknowledged).toEqual({ frames: 3, bytes: 40_001, seconds: null });
      const frames = simulator.sessions[0]?.received.filter((each) => typeof each === 'number');
      expect(frames).toEqual([16_384, 16_384, 7233]);
    }));
});

describe('a session refuses before sending', () => {
  const startedOnly = ['StartRecognition'];
  const sentTo = (received: readonly (string | number)[]) =>
    received.map((each) =>
      typeof each === 'number' ? each : String((JSON.parse(each) as { message: unknown }).message),
    );

  // Rule: Realtime: Session: no audio before RecognitionStarted
  it('audio before start', () =>
    withSimulator({}, async (simulator) => {
      const session = await connectSession(sessionOptions(simulator));
      const error = await failure(RealtimeProtocolError, session.sendAudio(silence(1)));
      expect(error.code).toBe('not-started');
      session.abort();
      await session.closed;
      expect(simulator.sessions[0]?.received).toEqual([]);
    }));

  // Rule: Realtime: Session: no audio before RecognitionStarted
  it('audio between StartRecognition and RecognitionStarted', () =>
    withSimulator({ first: { startAfter: new Promise(() => {}) } }, async (simulator) => {
      const session = await connectSession(sessionOptions(simulator));
      const starting = session.start(PCM, CONFIG);
      const error = await failure(RealtimeProtocolError, session.sendAudio(silence(1)));
      expect(error.code).toBe('not-started');
      session.abort();
      await expect(starting).rejects.toThrow('aborted');
      await session.closed;
      expect(sentTo(simulator.sessions[0]?.received ?? [])).toEqual(startedOnly);
    }));

  // Rule: Realtime: Session: StartRecognition exactly once
  it('a second start', () =>
    withSimulator({}, async (simulator, start) => {
      const session = await start();
      expect((await failure(RealtimeProtocolError, session.start(PCM, CONFIG))).code).toBe('start-repeated');
      await session.end();
      expect(sentTo(simulator.sessions[0]?.received ?? [])).toEqual(['StartRecognition', 'EndOfStream']);
    }));

  // Rule: Realtime: Session: wrong order is `protocol_error`
  it('an end before the start', () =>
    withSimulator({}, async (simulator) => {
      const session = await connectSession(sessionOptions(simulator));
      expect((await failure(RealtimeProtocolError, session.end())).code).toBe('not-started');
      session.abort();
    }));

  // Rule: Realtime: Session: no audio after EndOfStream
  // Rule: Realtime: Client-to-server messages: EndOfStream is the last message
  it('audio, an end and a configuration after the end', () =>
    withSimulator({}, async (simulator, start) => {
      const session = await start();
      const ended = session.end();
      for (const late of [() => session.sendAudio(silence(1)), () => session.end()]) {
        expect((await failure(RealtimeProtocolError, late())).code).toBe('stream-ended');
      }
      expect(() => session.setRecognitionConfig({ max_delay: 3 })).toThrow(RealtimeProtocolError);
      await ended;
      expect(sentTo(simulator.sessions[0]?.received ?? [])).toEqual(['StartRecognition', 'EndOfStream']);
    }));

  // Rule: Realtime: AudioType: no partial sample before EndOfStream
  it('a partial sample at the end of raw audio, until it is completed or discarded', () =>
    withSimulator({}, async (_simulator, start) => {
      const session = await start();
      await session.sendAudio(new Uint8Array(3));
      expect((await failure(RealtimeProtocolError, session.end())).code).toBe('partial-sample');
      await session.sendAudio(new Uint8Array(2));
      expect((await failure(RealtimeProtocolError, session.end())).message).toContain('1 bytes over');
      const report = await session.end({ partialSample: 'discard' });
      expect(report.acknowledged.bytes).toBe(4);
    }));

  // Rule: Realtime: TranscriptionConfig: `language` never changes
  // Rule: Realtime: Client-to-server messages: `SetRecognitionConfig`: only `max_delay`, `enable_partials`
  // Rule: Contradictions: a changed `language` is ignored, others "may" be errors
  it('a configuration change of more than max_delay and enable_partials', () =>
    withSimulator({}, async (simulator, start) => {
      const session = await start();
      for (const change of [
        { language: 'de' },
        { diarization: 'speaker_change' },
        { output_locale: 'en-GB' },
      ]) {
        expect(() => session.setRecognitionConfig(change as { language: string })).toThrow(
          `(${Object.keys(change)[0]})`,
        );
      }
      expect(() => session.setRecognitionConfig({ max_delay: 21 })).toThrow(RealtimeConfigError);
      session.setRecognitionConfig({ language: 'en', max_delay: 20 });
      await session.end();
      expect(sentTo(simulator.sessions[0]?.received ?? [])).toEqual([
        'StartRecognition',
        'SetRecognitionConfig',
        'EndOfStream',
      ]);
    }));

  // Rule: Realtime: Session: wrong order is `protocol_error`
  it('a configuration change before the start', () =>
    withSimulator({}, async (simulator) => {
      const session = await connectSession(sessionOptions(simulator));
      expect(() => session.setRecognitionConfig({ max_delay: 3 })).toThrow('RecognitionStarted');
      session.abort();
    }));

  it('a wrong configuration before even connecting', () =>
    withSimulator({}, async (simulator) => {
      const options = startOptions(simulator, { transcriptionConfig: { language: '', max_delay: 1 } });
      const error = await failure(RealtimeConfigError, startSession(options));
      expect(error.faults.map(({ path }) => path)).toEqual([
        'transcription_config.language',
        'transcription_config.max_delay',
      ]);
      expect(simulator.upgrades).toEqual([]);
    }));

  // Rule: Realtime: Session: duration limit: later audio acknowledged and ignored, session ends
  it('audio after the duration limit', () =>
    withSimulator({ durationLimitSeconds: 1 }, async (_simulator, start) => {
      const session = await start();
      const limited = new Promise((resolve) => session.on('Warning', resolve));
      await session.sendAudio(silence(2));
      await limited;
      expect(['duration-limit', 'stream-ended']).toContain(
        (await failure(RealtimeProtocolError, session.sendAudio(silence(1)))).code,
      );
      expect(await session.finished).toMatchObject({ complete: true, durationLimit: 1 });
    }));
});

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

  // Rule: Realtime: Beyond the specification: agent: `AddPartialSegment`, `AddSegment`, `StartOfTurn`, `EndOfTurn`, `SpeechStarted`,
  // `SpeechEnded`
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

/** A service that reads next to nothing until `process` is called. */
const HELD = { processing: 'manual', limits: { bufferSeconds: 0.01 } } as const;

describe('audio flow', () => {
  // Rule: Realtime: Limits: 10 s of audio ahead of AudioAdded
  it('keeps at most 10 s of raw audio unacknowledged and makes the caller wait', () =>
    withSimulator(HELD, async (simulator, start) => {
      const session = await start({ audio: { frameBytes: PCM_BYTES_PER_SECOND } });
      let settled = false;
      const sending = session.sendAudio(silence(30)).then(() => {
        settled = true;
      });
      const service = await simulator.session(0);
      const acknowledged = new Promise((resolve) => session.on('AudioAdded', resolve));
      await acknowledged;
      for (let second = 0; second < 30; second += 1) {
        const { sent, acknowledged: heard } = session.report();
        expect((sent.seconds ?? 0) - (heard.seconds ?? 0)).toBeLessThanOrEqual(10);
        if (heard.frames < 20) expect(settled).toBe(false);
        if (heard.frames === 30) break;
        const next = new Promise((resolve) => session.on('AudioAdded', resolve));
        service.process(1);
        await next;
      }
      await sending;
      service.process(1);
      expect(await session.end()).toMatchObject({
        complete: true,
        acknowledged: { frames: 30, seconds: 30 },
      });
    }));

  // Rule: Realtime: Limits: 500 frames ahead of AudioAdded
  it('keeps at most 500 frames unacknowledged', () =>
    withSimulator({ processing: 'manual', limits: { bufferSeconds: 0.0001 } }, async (simulator, start) => {
      const session = await start();
      const sending = (async () => {
        for (let frame = 0; frame < 700; frame += 1) await session.sendAudio(new Uint8Array(4));
      })();
      const service = await simulator.session(0);
      let most = 0;
      session.on('AudioAdded', () => {
        const { sent, acknowledged } = session.report();
        most = Math.max(most, sent.frames - acknowledged.frames);
        service.process(4 / PCM_BYTES_PER_SECOND);
      });
      await sending;
      expect(most).toBeLessThanOrEqual(500);
      expect(most).toBeGreaterThan(450);
      session.abort();
    }));

  // Rule: Realtime: Limits: file audio of unknown duration
  it('bounds a file by bytes, because its duration is unknown', () =>
    withSimulator(HELD, async (_simulator, start) => {
      const session = await start({
        audioFormat: { type: 'file' },
        audio: { unacknowledgedFileBytes: 65_536 },
      });
      const sending = session.sendAudio(new Uint8Array(300_000));
      await new Promise((resolve) => session.on('AudioAdded', resolve));
      expect(session.report().sent.bytes - session.report().acknowledged.bytes).toBeLessThanOrEqual(65_536);
      session.abort();
      await failure(RealtimeSessionError, sending);
    }));

  // Rule: Realtime: Errors: a dead session reports what was acknowledged and final
  it('rejects waiting audio when the session dies', () =>
    withSimulator(HELD, async (_simulator, start) => {
      const session = await start();
      const sending = session.sendAudio(silence(20));
      session.abort('enough');
      expect(await failure(RealtimeSessionError, sending)).toMatchObject({
        kind: 'aborted',
        message: 'enough',
      });
      expect(await failure(RealtimeSessionError, session.sendAudio(silence(1)))).toMatchObject({
        kind: 'aborted',
      });
    }));

  // Rule: Realtime: Limits: not faster than the service takes it
  it('never overruns a service that works in real time, whatever the caller does', () =>
    withSimulator({ processing: 400, limits: { bufferSeconds: 2 } }, async (_simulator, start) => {
      const session = await start();
      const report = await session.stream(Array.from({ length: 12 }, () => silence(5)));
      expect(report).toMatchObject({ complete: true, acknowledged: { seconds: 60 } });
    }));
});
