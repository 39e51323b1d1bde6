import { describe, expect, it } from '@jest/globals';
import { checkChange, checkStart, wireConfig } from '../../../../src/speech/realtime/check-config.js';
import { RealtimeConfigError } from '../../../../src/speech/realtime/realtime-error.js';
import type { AudioFormat, TranscriptionConfig } from '../../../../src/speech/realtime/wire.js';

const RAW = { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 };

function faultsOf(audio: unknown, config: unknown): string[] {
  try {
    checkStart(audio as AudioFormat, config as TranscriptionConfig);
    return [];
  } catch (error) {
    if (error instanceof RealtimeConfigError) return error.faults.map(({ path }) => path);
    throw error;
  }
}

const config = (fields: object) => ({ language: 'en', ...fields });
const vocab = (...words: unknown[]) => config({ additional_vocab: words });

describe('audio_format', () => {
  it.each([
    { name: 'takes raw pcm_f32le', audio: { ...RAW, encoding: 'pcm_f32le' }, faults: [] },
    { name: 'takes raw pcm_s16le', audio: RAW, faults: [] },
    { name: 'takes raw mulaw', audio: { ...RAW, encoding: 'mulaw', sample_rate: 8000 }, faults: [] },
    { name: 'takes a file', audio: { type: 'file' }, faults: [] },
    // Rule: Realtime: AudioType: `type` is mandatory
    { name: 'needs a type', audio: {}, faults: ['audio_format.type'] },
    // Rule: Realtime: AudioType: `type` is raw or file
    { name: 'knows no other type', audio: { type: 'stream' }, faults: ['audio_format.type'] },
    {
      // Rule: Realtime: AudioType: raw needs `encoding`
      name: 'needs encoding and sample_rate with raw',
      audio: { type: 'raw' },
      faults: ['audio_format.encoding', 'audio_format.sample_rate'],
    },
    {
      // Rule: Realtime: AudioType: no other `encoding`
      name: 'knows no other encoding',
      audio: { ...RAW, encoding: 'opus' },
      faults: ['audio_format.encoding'],
    },
    {
      // Rule: Realtime: AudioType: raw needs `sample_rate`, an integer
      name: 'wants an integer sample_rate',
      audio: { ...RAW, sample_rate: 0.5 },
      faults: ['audio_format.sample_rate'],
    },
    {
      name: 'wants a sample_rate above 0',
      audio: { ...RAW, sample_rate: 0 },
      faults: ['audio_format.sample_rate'],
    },
    {
      name: 'wants no encoding with file',
      audio: { type: 'file', encoding: 'mulaw' },
      faults: ['audio_format.encoding'],
    },
    { name: 'is an object', audio: null, faults: ['audio_format'] },
  ])('$name', ({ audio, faults }) => {
    expect(faultsOf(audio, { language: 'en' })).toEqual(faults);
  });
});

describe('transcription_config', () => {
  const at = (field: string) => [`transcription_config.${field}`];
  it.each([
    // Rule: Realtime: TranscriptionConfig: `language` is required
    { name: 'needs a language', given: {}, faults: at('language') },
    { name: 'needs a language that says something', given: { language: ' ' }, faults: at('language') },
    { name: 'takes max_delay 2', given: config({ max_delay: 2 }), faults: [] },
    { name: 'takes max_delay 20', given: config({ max_delay: 20 }), faults: [] },
    // Rule: Realtime: TranscriptionConfig: `max_delay` 2 to 20
    { name: 'refuses max_delay below 2', given: config({ max_delay: 1.99 }), faults: at('max_delay') },
    // Rule: Realtime: TranscriptionConfig: `max_delay` 2 to 20
    { name: 'refuses max_delay above 20', given: config({ max_delay: 20.01 }), faults: at('max_delay') },
    { name: 'refuses max_delay NaN', given: config({ max_delay: Number.NaN }), faults: at('max_delay') },
    { name: 'takes diarization none', given: config({ diarization: 'none' }), faults: [] },
    {
      name: 'takes diarization speaker_change',
      given: config({ diarization: 'speaker_change' }),
      faults: [],
    },
    {
      // Rule: Realtime: TranscriptionConfig: `diarization` is none or speaker_change
      name: 'refuses other diarization',
      given: config({ diarization: 'speaker' }),
      faults: at('diarization'),
    },
    {
      // Rule: Realtime: TranscriptionConfig: `enable_partials` is a boolean, default false
      name: 'wants enable_partials true or false',
      given: config({ enable_partials: 'yes' }),
      faults: at('enable_partials'),
    },
    // Rule: Realtime: TranscriptionConfig: `output_locale` is text, may be empty
    { name: 'takes an empty output_locale', given: config({ output_locale: '' }), faults: [] },
    // Rule: Realtime: TranscriptionConfig: `output_locale` is text, may be empty
    { name: 'wants output_locale as text', given: config({ output_locale: 1 }), faults: at('output_locale') },
    {
      name: 'takes speaker_change_sensitivity 0 and 1',
      given: config({ speaker_change_sensitivity: 1 }),
      faults: [],
    },
    {
      // Rule: Realtime: TranscriptionConfig: `speaker_change_sensitivity` 0 to 1
      name: 'refuses speaker_change_sensitivity above 1',
      given: config({ speaker_change_sensitivity: 1.1 }),
      faults: at('speaker_change_sensitivity'),
    },
    {
      // Rule: Realtime: TranscriptionConfig: `speaker_change_sensitivity` 0 to 1
      name: 'refuses speaker_change_sensitivity below 0',
      given: config({ speaker_change_sensitivity: -0.1 }),
      faults: at('speaker_change_sensitivity'),
    },
    {
      // Rule: Realtime: PunctuationOverrides: `permitted_marks` is a list or all
      name: 'takes permitted_marks as a list',
      given: config({ punctuation_overrides: { permitted_marks: ['.', '\u00a1'] } }),
      faults: [],
    },
    {
      // Rule: Realtime: PunctuationOverrides: `permitted_marks` is a list or all
      name: 'takes permitted_marks all',
      given: config({ punctuation_overrides: { permitted_marks: 'all' } }),
      faults: [],
    },
    {
      // Rule: Realtime: PunctuationOverrides: `permitted_marks` is a list or all
      name: 'refuses other permitted_marks',
      given: config({ punctuation_overrides: { permitted_marks: 'none' } }),
      faults: at('punctuation_overrides.permitted_marks'),
    },
    {
      // Rule: Realtime: PunctuationOverrides: `sensitivity` 0 to 1
      name: 'refuses punctuation sensitivity outside 0 to 1',
      given: config({ punctuation_overrides: { sensitivity: 2 } }),
      faults: at('punctuation_overrides.sensitivity'),
    },
    {
      name: 'wants punctuation_overrides as an object',
      given: config({ punctuation_overrides: 'all' }),
      faults: at('punctuation_overrides'),
    },
    {
      name: 'leaves fields that the document does not know to the service',
      given: config({ volume: 11, constructor: 'x' }),
      faults: [],
    },
    { name: 'is an object', given: 'en', faults: ['transcription_config'] },
    { name: 'takes an empty additional_vocab', given: vocab(), faults: [] },
    {
      // Rule: Realtime: AdditionalWord: text, or object with `content`
      name: 'takes words, phrases and objects in additional_vocab',
      given: vocab(
        'gnocchi',
        'soft skills',
        { content: 'CEO' },
        { content: 'IRA', sounds_like: ['eyerah', 'ira'] },
      ),
      faults: [],
    },
    {
      // Rule: Realtime: TranscriptionConfig: `additional_vocab` is a list
      name: 'wants additional_vocab as a list',
      given: config({ additional_vocab: 'gnocchi' }),
      faults: at('additional_vocab'),
    },
    { name: 'refuses an empty word', given: vocab(''), faults: at('additional_vocab[0].content') },
    {
      // Rule: Realtime: AdditionalWord: text, or object with `content`
      name: 'refuses a word that is neither text nor object',
      given: vocab(7),
      faults: at('additional_vocab[0]'),
    },
    {
      // Rule: Realtime: AdditionalWord: text, or object with `content`
      name: 'refuses an object without content',
      given: vocab('a', { sounds_like: ['b'] }),
      faults: at('additional_vocab[1].content'),
    },
    {
      // Rule: Realtime: AdditionalWord: `sounds_like` is not empty
      name: 'refuses an empty sounds_like',
      given: vocab({ content: 'CEO', sounds_like: [] }),
      faults: at('additional_vocab[0].sounds_like'),
    },
    {
      // Rule: Realtime: AdditionalWord: `sounds_like` holds no blanks
      name: 'refuses blanks in sounds_like',
      given: vocab({ content: 'CEO', sounds_like: ['see', 'see oh'] }),
      faults: at('additional_vocab[0].sounds_like[1]'),
    },
    {
      name: 'refuses an empty pronunciation',
      given: vocab({ content: 'CEO', sounds_like: [''] }),
      faults: at('additional_vocab[0].sounds_like[0]'),
    },
  ])('$name', ({ given, faults }) => {
    expect(faultsOf(RAW, given)).toEqual(faults);
  });

  it('names every fault at once', () => {
    expect(faultsOf({ type: 'raw' }, { max_delay: 1, diarization: 'x' })).toHaveLength(5);
  });
});

describe('a configuration change', () => {
  // Rule: Realtime: Client-to-server messages: `SetRecognitionConfig`: only `max_delay`, `enable_partials`
  it('keeps to the ranges of the start', () => {
    expect(() => checkChange({ max_delay: 2, enable_partials: true })).not.toThrow();
    expect(() => checkChange({ max_delay: 1 })).toThrow('max_delay: a number from 2 to 20 (seconds)');
  });
});

describe('the configuration on the wire', () => {
  // Rule: Realtime: AdditionalWord: a plain string is its own `sounds_like`
  // Rule: Contradictions: phrases as words, but `sounds_like` without blanks
  it('keeps plain words, and gives phrases as content alone', () => {
    const sent = wireConfig({
      language: 'en',
      additional_vocab: ['gnocchi', 'soft skills', { content: 'CEO' }],
    });
    expect(sent.additional_vocab).toEqual(['gnocchi', { content: 'soft skills' }, { content: 'CEO' }]);
  });
});
