import { describe, expect, it } from '@jest/globals';
import type { RealtimeSimulatorOptions } from '../../../src/simulator/realtime/realtime-interface.js';
import type { SessionScript } from '../../../src/simulator/realtime/session-script.js';
import { PCM, type RawClient, rawClient, withSimulator } from '../../support/realtime.js';

/** What the service answers to clients that break the protocol: npm run conformance. */
const START = { message: 'StartRecognition', audio_format: PCM, transcription_config: { language: 'en' } };
const started = async (client: RawClient, start: object = START): Promise<void> => {
  client.send(start);
  await client.until('RecognitionStarted');
};
const startWith = (config: object) => ({ ...START, transcription_config: { language: 'en', ...config } });
const endOf = (frames: number) => ({ message: 'EndOfStream', last_seq_no: frames });
const RECONFIGURATION = { message: 'SetRecognitionConfig', transcription_config: { language: 'en' } };
const afterEnd = (act: (client: RawClient) => void) => async (client: RawClient) => {
  await started(client);
  client.send(new Uint8Array(2));
  client.send(endOf(1));
  act(client);
};

/** The code with which the connection is closed, by the type of the Error before. */
const CLOSES = {
  protocol_error: 1003,
  invalid_message: 1003,
  invalid_audio_type: 1003,
  invalid_config: 1003,
  data_error: 1008,
  buffer_error: 1008,
  insufficient_funds: 1008,
  not_authorised: 4001,
  not_allowed: 4003,
  invalid_model: 4004,
};

interface Refusal {
  readonly name: string;
  readonly error: keyof typeof CLOSES;
  readonly options?: Partial<RealtimeSimulatorOptions> & { first?: SessionScript };
  readonly key?: string;
  act(client: RawClient): Promise<void> | void;
}

const REFUSALS: readonly Refusal[] = [
  {
    // Rule: Realtime: Session: no audio before RecognitionStarted
    // Rule: Realtime: Errors: `protocol_error`
    name: 'audio before StartRecognition is a protocol_error',
    error: 'protocol_error',
    act: (client) => client.send(new Uint8Array(2)),
  },
  {
    // Rule: Realtime: Session: no audio before RecognitionStarted
    name: 'audio before RecognitionStarted is a protocol_error',
    error: 'protocol_error',
    options: { first: { startAfter: new Promise(() => {}) } },
    act: (client) => {
      client.send(START);
      client.send(new Uint8Array(2));
    },
  },
  {
    // Rule: Realtime: Session: StartRecognition exactly once
    name: 'a second StartRecognition is a protocol_error',
    error: 'protocol_error',
    act: async (client) => {
      await started(client);
      client.send(START);
    },
  },
  {
    // Rule: Realtime: Session: wrong order is `protocol_error`
    name: 'SetRecognitionConfig before StartRecognition is a protocol_error',
    error: 'protocol_error',
    act: (client) => client.send(RECONFIGURATION),
  },
  {
    // Rule: Realtime: Session: wrong order is `protocol_error`
    name: 'EndOfStream before StartRecognition is a protocol_error',
    error: 'protocol_error',
    act: (client) => client.send(endOf(0)),
  },
  {
    // Rule: Realtime: Session: no audio after EndOfStream
    name: 'audio after EndOfStream is a protocol_error',
    error: 'protocol_error',
    options: { processing: 'manual' },
    act: afterEnd((client) => client.send(new Uint8Array(2))),
  },
  {
    // Rule: Realtime: Session: wrong order is `protocol_error`
    name: 'SetRecognitionConfig after EndOfStream is a protocol_error',
    error: 'protocol_error',
    options: { processing: 'manual' },
    act: afterEnd((client) => client.send(RECONFIGURATION)),
  },
  {
    // Rule: Realtime: Session: wrong order is `protocol_error`
    // Rule: Realtime: Client-to-server messages: EndOfStream is the last message
    name: 'a second EndOfStream is a protocol_error',
    error: 'protocol_error',
    options: { processing: 'manual' },
    act: afterEnd((client) => client.send(endOf(1))),
  },
  {
    // Rule: Realtime: Client-to-server messages: `last_seq_no`: number of frames sent
    name: 'a last_seq_no that is not the number of frames is a protocol_error',
    error: 'protocol_error',
    act: async (client) => {
      await started(client);
      client.send(new Uint8Array(2));
      client.send(endOf(2));
    },
  },
  {
    // Rule: Realtime: AudioType: no partial sample before EndOfStream
    name: 'audio that ends inside a sample is a data_error at EndOfStream',
    error: 'data_error',
    act: async (client) => {
      await started(client);
      client.send(new Uint8Array(3));
      client.send(endOf(1));
    },
  },
  {
    // Rule: Realtime: Client-to-server messages: `last_seq_no`: number of frames sent
    name: 'a last_seq_no that is not an integer is an invalid_message',
    error: 'invalid_message',
    act: async (client) => {
      await started(client);
      client.send({ message: 'EndOfStream', last_seq_no: '1' });
    },
  },
  {
    // Rule: Realtime: Protocol objects: JSON text with a string `message`
    name: 'text that is not JSON is an invalid_message',
    error: 'invalid_message',
    act: (client) => client.send('StartRecognition'),
  },
  {
    // Rule: Realtime: Protocol objects: JSON text with a string `message`
    name: 'a message without a name is an invalid_message',
    error: 'invalid_message',
    act: (client) => client.send({ audio_format: PCM }),
  },
  {
    // Rule: Realtime: Errors: `invalid_message`
    name: 'a message of an unknown name is an invalid_message',
    error: 'invalid_message',
    act: (client) => client.send({ message: 'AddAudio' }),
  },
  {
    // Rule: Realtime: AudioType: `type` is mandatory
    name: 'a missing audio_format is an invalid_audio_type',
    error: 'invalid_audio_type',
    act: (client) => client.send({ ...START, audio_format: undefined }),
  },
  {
    // Rule: Realtime: AudioType: raw needs `encoding`
    name: 'raw audio without encoding is an invalid_audio_type',
    error: 'invalid_audio_type',
    act: (client) => client.send({ ...START, audio_format: { type: 'raw', sample_rate: 8000 } }),
  },
  {
    // Rule: Realtime: AudioType: raw needs `sample_rate`, an integer
    name: 'raw audio without sample_rate is an invalid_audio_type',
    error: 'invalid_audio_type',
    act: (client) => client.send({ ...START, audio_format: { type: 'raw', encoding: 'mulaw' } }),
  },
  {
    // Rule: Realtime: AudioType: `type` is raw or file
    // Rule: Realtime: Errors: `invalid_audio_type`
    name: 'an audio type other than raw and file is an invalid_audio_type',
    error: 'invalid_audio_type',
    act: (client) => client.send({ ...START, audio_format: { type: 'stream' } }),
  },
  {
    // Rule: Realtime: TranscriptionConfig: `language` is required
    // Rule: Contradictions: `invalid_config` is no error of StartRecognition
    name: 'a configuration without language is an invalid_config',
    error: 'invalid_config',
    act: (client) => client.send({ ...START, transcription_config: {} }),
  },
  {
    // Rule: Realtime: TranscriptionConfig: wrong or unsupported fields
    // Rule: Realtime: Errors: `invalid_config`
    name: 'a field the document does not know is an invalid_config',
    error: 'invalid_config',
    act: (client) => client.send(startWith({ voice: 'loud' })),
  },
  {
    // Rule: Realtime: TranscriptionConfig: `max_delay` 2 to 20
    name: 'a max_delay outside 2 to 20 is an invalid_config',
    error: 'invalid_config',
    act: (client) => client.send(startWith({ max_delay: 1 })),
  },
  {
    // Rule: Realtime: AdditionalWord: `sounds_like` holds no blanks
    name: 'sounds_like with a blank is an invalid_config',
    error: 'invalid_config',
    act: (client) => client.send(startWith({ additional_vocab: [{ content: 'x', sounds_like: ['ex ex'] }] })),
  },
  {
    // Rule: Realtime: Client-to-server messages: `SetRecognitionConfig`: only `max_delay`, `enable_partials`
    // Rule: Contradictions: a changed `language` is ignored, others "may" be errors
    name: 'a change of more than max_delay and enable_partials is an invalid_config',
    error: 'invalid_config',
    act: async (client) => {
      await started(client);
      client.send({
        message: 'SetRecognitionConfig',
        transcription_config: { language: 'en', diarization: 'speaker_change' },
      });
    },
  },
  {
    // Rule: Realtime: Errors: `invalid_model`
    name: 'a language without a model is an invalid_model',
    error: 'invalid_model',
    act: (client) => client.send(startWith({ language: 'tlh' })),
  },
  {
    // Rule: Realtime: Authentication: unknown keys are `not_authorised`
    // Rule: Realtime: Errors: `not_authorised`
    // Rule: Contradictions: live, wrong key: 401, or `not_authorised`
    name: 'an unknown key is not_authorised',
    error: 'not_authorised',
    key: 'stolen',
    act: (client) => client.send(START),
  },
  {
    // Rule: Realtime: Errors: `insufficient_funds`
    name: 'an account that cannot be charged gets insufficient_funds',
    error: 'insufficient_funds',
    options: { verifyKey: () => 'insufficient_funds' },
    act: (client) => client.send(START),
  },
  {
    // Rule: Realtime: Errors: `not_allowed`
    name: 'a user without the right gets not_allowed',
    error: 'not_allowed',
    options: { verifyKey: () => 'not_allowed' },
    act: (client) => client.send(START),
  },
  {
    // Rule: Realtime: Errors: `not_authorised`
    name: 'a key check that fails is not_authorised',
    error: 'not_authorised',
    options: {
      verifyKey: () => {
        throw new Error('the key service is down');
      },
    },
    act: (client) => client.send(START),
  },
  {
    // Rule: Realtime: Errors: `buffer_error`
    // Rule: Realtime: Limits: 10 s of audio ahead of AudioAdded
    name: 'more than 10 s of raw audio ahead of AudioAdded is a buffer_error',
    error: 'buffer_error',
    options: { processing: 'manual', limits: { bufferSeconds: 1 } },
    act: async (client) => {
      await started(client);
      for (let second = 0; second < 12; second += 1) client.send(new Uint8Array(32_000));
    },
  },
  {
    // Rule: Realtime: Limits: 500 frames ahead of AudioAdded
    name: 'more than 500 frames ahead of AudioAdded is a buffer_error',
    error: 'buffer_error',
    options: { processing: 'manual', limits: { bufferSeconds: 0.0001 } },
    act: async (client) => {
      await started(client);
      for (let frame = 0; frame < 502; frame += 1) client.send(new Uint8Array(4));
    },
  },
  {
    // Rule: Realtime: Errors: `data_error`
    // Rule: Silences: sizes of media and frames
    name: 'too much data in one frame is a data_error',
    error: 'data_error',
    options: { limits: { frameBytes: 1000 } },
    act: async (client) => {
      await started(client);
      client.send(new Uint8Array(1002));
    },
  },
];

describe('the simulated service refuses', () => {
  it.each(REFUSALS)('$name', ({ options = {}, key, act, error }) =>
    withSimulator(options, async (simulator) => {
      const client = await rawClient(simulator, '/v2', key);
      await act(client);
      const message = await client.until('Error');
      expect(message).toMatchObject({ type: error, reason: expect.any(String) });
      expect(await client.closed).toBe(CLOSES[error]);
    }),
  );
});

describe('the simulated service', () => {
  // Rule: Realtime: Session: AddAudio: `AudioAdded` with next `seq_no`
  // Rule: Realtime: Server-to-client messages: `AudioAdded` may be late
  it('reads audio only while its buffer has room, and acknowledges it then', () =>
    withSimulator({ processing: 'manual', limits: { bufferSeconds: 2 } }, async (simulator) => {
      const client = await rawClient(simulator);
      await started(client);
      for (let second = 0; second < 3; second += 1) client.send(new Uint8Array(32_000));
      expect(await client.until('AudioAdded')).toEqual({ message: 'AudioAdded', seq_no: 1 });
      expect(await client.next()).toEqual({ message: 'AudioAdded', seq_no: 2 });
      const session = await simulator.session(0);
      expect(session.ahead.frames).toBeLessThanOrEqual(1);
      session.process(1);
      expect(await client.until('AudioAdded')).toEqual({ message: 'AudioAdded', seq_no: 3 });
    }));

  // Rule: Realtime: Limits: a larger frame waits
  it('reads a frame larger than its buffer once the buffer is empty', () =>
    withSimulator({ processing: 'manual', limits: { bufferSeconds: 1 } }, async (simulator) => {
      const client = await rawClient(simulator);
      await started(client);
      client.send(new Uint8Array(16_000));
      client.send(new Uint8Array(64_000));
      expect(await client.until('AudioAdded')).toMatchObject({ seq_no: 1 });
      (await simulator.session(0)).process(0.5);
      expect(await client.until('AudioAdded')).toMatchObject({ seq_no: 2 });
    }));

  // Rule: Realtime: Session: transcripts before `EndOfTranscript`
  // Rule: Realtime: Server-to-client messages: `EndOfTranscript`: nothing follows
  it('sends all transcripts before EndOfTranscript, and nothing after it', () =>
    withSimulator({}, async (simulator) => {
      const client = await rawClient(simulator);
      await started(client);
      client.send(new Uint8Array(32_000));
      client.send(endOf(1));
      expect(await client.until('AddTranscript')).toMatchObject({ metadata: { transcript: 'Welcome to ' } });
      expect(await client.next()).toEqual({ message: 'EndOfTranscript' });
    }));
});
