import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { RealtimeSimulator } from '../../../src/simulator/realtime/realtime-interface.js';
import { startRealtimeSimulator } from '../../../src/simulator/realtime/realtime-simulator.js';
import { PCM, type RawClient, rawClient } from '../../support/realtime.js';

/** What a lenient session admits beyond the specification: docs/simulator.md#lenient, row by row. */
let strict: RealtimeSimulator;
let lenient: RealtimeSimulator;

beforeAll(async () => {
  strict = await startRealtimeSimulator({ verifyKey: () => 'ok' });
  lenient = await startRealtimeSimulator({ verifyKey: () => 'ok', lenient: true });
});
afterAll(() => Promise.all([strict.close(), lenient.close()]));

const START = { message: 'StartRecognition', audio_format: PCM, transcription_config: { language: 'en' } };
type Start = Readonly<Record<'transcription_config', object>> & object;

const startWith = (config: object) => ({ ...START, transcription_config: { language: 'en', ...config } });

/** Further fields of SetRecognitionConfig and EndOfStream, and a message between them. */
interface Extra {
  readonly change?: object;
  readonly message?: object;
  readonly end?: object;
}

/** A whole session: start, the same configuration again, two frames, end. Gives the service's last message. */
async function lastMessage(
  client: RawClient,
  start: Start,
  lastSeqNo: unknown = 2,
  extra: Extra = {},
): Promise<Record<string, unknown>> {
  client.send(start);
  for (let message = await client.next(); ; message = await client.next()) {
    if (message.message === 'Error' || message.message === 'EndOfTranscript') return message;
    if (message.message !== 'RecognitionStarted') continue;
    client.send({
      message: 'SetRecognitionConfig',
      transcription_config: start.transcription_config,
      ...extra.change,
    });
    if (extra.message) client.send(extra.message);
    client.send(new Uint8Array(32_000));
    client.send(new Uint8Array(32_000));
    client.send({ message: 'EndOfStream', last_seq_no: lastSeqNo, ...extra.end });
  }
}

interface Difference extends Extra {
  readonly name: string;
  readonly refusedWith: string;
  readonly start?: Start;
  readonly lastSeqNo?: unknown;
}

const DIFFERENCES: readonly Difference[] = [
  {
    // Rule: Contradictions: `last_seq_no`: frames sent, or acknowledged
    name: 'a last_seq_no below the frames sent, as the last one acknowledged',
    refusedWith: 'protocol_error',
    lastSeqNo: 0,
  },
  {
    name: 'a last_seq_no by channel',
    refusedWith: 'invalid_message',
    lastSeqNo: { single: 2 },
  },
  {
    name: 'a SetRecognitionConfig without language',
    refusedWith: 'invalid_config',
    change: { transcription_config: { max_delay: 3 } },
  },
  {
    name: 'messages of other names',
    refusedWith: 'invalid_message',
    message: { message: 'ForceEndOfUtterance' },
  },
  {
    name: 'unknown fields of transcription_config',
    refusedWith: 'invalid_config',
    start: startWith({ operating_point: 'enhanced', model: 'enhanced', max_delay_mode: 'flexible' }),
  },
  {
    name: 'unknown fields of StartRecognition',
    refusedWith: 'invalid_message',
    start: { ...START, ...{ translation_config: { target_languages: ['de'] } } },
  },
  { name: 'unknown fields of SetRecognitionConfig', refusedWith: 'invalid_message', change: { id: 1 } },
  { name: 'unknown fields of EndOfStream', refusedWith: 'invalid_message', end: { id: 1 } },
  {
    name: 'unknown fields of audio_format',
    refusedWith: 'invalid_audio_type',
    start: { ...START, ...{ audio_format: { ...PCM, channels: 1 } } },
  },
  {
    name: 'unknown fields of punctuation_overrides',
    refusedWith: 'invalid_config',
    start: startWith({ punctuation_overrides: { sensitivity: 0.4, style: 'plain' } }),
  },
  {
    name: 'unknown fields of a word in additional_vocab',
    refusedWith: 'invalid_config',
    start: startWith({ additional_vocab: [{ content: 'gnocchi', weight: 2 }] }),
  },
  {
    // Rule: Contradictions: phrases as words, but `sounds_like` without blanks
    name: 'phrases as plain strings in additional_vocab',
    refusedWith: 'invalid_config',
    start: startWith({ additional_vocab: ['New York', 'gnocchi'] }),
  },
  {
    name: 'other diarization',
    refusedWith: 'invalid_config',
    start: startWith({ diarization: 'speaker' }),
  },
  {
    name: 'a max_delay below 2',
    refusedWith: 'invalid_config',
    start: startWith({ max_delay: 0.7 }),
  },
];

describe('beyond the specification, a lenient session admits', () => {
  it.each(DIFFERENCES)('$name', async ({ refusedWith, start = START, lastSeqNo, ...extra }) => {
    const refused = await lastMessage(await rawClient(strict), start, lastSeqNo, extra);
    expect(refused).toMatchObject({ message: 'Error', type: refusedWith });
    const admitted = await lastMessage(await rawClient(lenient), start, lastSeqNo, extra);
    expect(admitted).toEqual({ message: 'EndOfTranscript' });
  });

  it.each(['/v2/en', '/v2/en-GB', '/v2/cmn_en_ms_ta'])('a language in the path: %s', async (path) => {
    await expect(rawClient(strict, path)).rejects.toThrow('404');
    expect(await lastMessage(await rawClient(lenient, path), START)).toEqual({ message: 'EndOfTranscript' });
  });
});

describe('a lenient session still refuses', () => {
  it.each([
    ['a last_seq_no above the frames sent', 'protocol_error', START, 3],
    ['a last_seq_no by channel that is not a number', 'invalid_message', START, { single: '2' }],
    ['a negative last_seq_no', 'protocol_error', START, -1],
    ['an empty word', 'invalid_config', startWith({ additional_vocab: [' '] }), 2],
    ['a max_delay above 20', 'invalid_config', startWith({ max_delay: 21 }), 2],
    ['a known field of the wrong type', 'invalid_config', startWith({ enable_partials: 'yes' }), 2],
    ['a language without a model', 'invalid_model', startWith({ language: 'tlh' }), 2],
  ])('%s', async (_name, type, start, lastSeqNo) => {
    expect(await lastMessage(await rawClient(lenient), start, lastSeqNo)).toMatchObject({ type });
  });

  it('paths of other depth', async () => {
    await expect(rawClient(lenient, '/v2/en/x')).rejects.toThrow('404');
    await expect(rawClient(lenient, '/v1/en')).rejects.toThrow('404');
  });
});
