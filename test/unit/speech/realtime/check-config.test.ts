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

const vocab = (...words: unknown[]) => ({ additional_vocab: words });

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
  it.each<[string, object, string | null]>([
    // Rule: Realtime: TranscriptionConfig: `language` is required
    ['needs a language', { language: undefined }, 'language'],
    ['needs a language that says something', { language: ' ' }, 'language'],
    ['takes max_delay 2', { max_delay: 2 }, null],
    ['takes max_delay 20', { max_delay: 20 }, null],
    // Rule: Realtime: TranscriptionConfig: `max_delay` 2 to 20
    ['refuses max_delay below 2', { max_delay: 1.99 }, 'max_delay'],
    // Rule: Realtime: TranscriptionConfig: `max_delay` 2 to 20
    ['refuses max_delay above 20', { max_delay: 20.01 }, 'max_delay'],
    ['refuses max_delay NaN', { max_delay: Number.NaN }, 'max_delay'],
    ['takes diarization none', { diarization: 'none' }, null],
    ['takes diarization speaker_change', { diarization: 'speaker_change' }, null],
    // Rule: Realtime: TranscriptionConfig: `diarization` is none or speaker_change
    ['refuses other diarization', { diarization: 'speaker' }, 'diarization'],
    // Rule: Realtime: TranscriptionConfig: `enable_partials` is a boolean, default false
    ['wants enable_partials true or false', { enable_partials: 'yes' }, 'enable_partials'],
    // Rule: Realtime: TranscriptionConfig: `output_locale` is text, may be empty
    ['takes an empty output_locale', { output_locale: '' }, null],
    // Rule: Realtime: TranscriptionConfig: `output_locale` is text, may be empty
    ['wants output_locale as text', { output_locale: 1 }, 'output_locale'],
    ['takes speaker_change_sensitivity 0 and 1', { speaker_change_sensitivity: 1 }, null],
    // Rule: Realtime: TranscriptionConfig: `speaker_change_sensitivity` 0 to 1
    [
      'refuses speaker_change_sensitivity above 1',
      { speaker_change_sensitivity: 1.1 },
      'speaker_change_sensitivity',
    ],
    // Rule: Realtime: TranscriptionConfig: `speaker_change_sensitivity` 0 to 1
    [
      'refuses speaker_change_sensitivity below 0',
      { speaker_change_sensitivity: -0.1 },
      'speaker_change_sensitivity',
    ],
    // Rule: Realtime: PunctuationOverrides: `permitted_marks` is a list or all
    [
      'takes permitted_marks as a list',
      { punctuation_overrides: { permitted_marks: ['.', '\u00a1'] } },
      null,
    ],
    // Rule: Realtime: PunctuationOverrides: `permitted_marks` is a list or all
    ['takes permitted_marks all', { punctuation_overrides: { permitted_marks: 'all' } }, null],
    // Rule: Realtime: PunctuationOverrides: `permitted_marks` is a list or all
    [
      'refuses other permitted_marks',
      { punctuation_overrides: { permitted_marks: 'none' } },
      'punctuation_overrides.permitted_marks',
    ],
    // Rule: Realtime: PunctuationOverrides: `sensitivity` 0 to 1
    [
      'refuses punctuation sensitivity outside 0 to 1',
      { punctuation_overrides: { sensitivity: 2 } },
      'punctuation_overrides.sensitivity',
    ],
    ['wants punctuation_overrides as an object', { punctuation_overrides: 'all' }, 'punctuation_overrides'],
    ['leaves fields that the document does not know to the service', { volume: 11, constructor: 'x' }, null],
    ['takes an empty additional_vocab', vocab(), null],
    // Rule: Realtime: AdditionalWord: text, or object with `content`
    [
      'takes words, phrases and objects in additional_vocab',
      vocab('gnocchi', 'soft skills', { content: 'CEO' }, { content: 'IRA', sounds_like: ['eyerah', 'ira'] }),
      null,
    ],
    // Rule: Realtime: TranscriptionConfig: `additional_vocab` is a list
    ['wants additional_vocab as a list', { additional_vocab: 'gnocchi' }, 'additional_vocab'],
    ['refuses an empty word', vocab(''), 'additional_vocab[0].content'],
    // Rule: Realtime: AdditionalWord: text, or object with `content`
    ['refuses a word that is neither text nor object', vocab(7), 'additional_vocab[0]'],
    // Rule: Realtime: AdditionalWord: text, or object with `content`
    ['refuses an object without content', vocab('a', { sounds_like: ['b'] }), 'additional_vocab[1].content'],
    // Rule: Realtime: AdditionalWord: `sounds_like` is not empty
    [
      'refuses an empty sounds_like',
      vocab({ content: 'CEO', sounds_like: [] }),
      'additional_vocab[0].sounds_like',
    ],
    // Rule: Realtime: AdditionalWord: `sounds_like` holds no blanks
    [
      'refuses blanks in sounds_like',
      vocab({ content: 'CEO', sounds_like: ['see', 'see oh'] }),
      'additional_vocab[0].sounds_like[1]',
    ],
    [
      'refuses an empty pronunciation',
      vocab({ content: 'CEO', sounds_like: [''] }),
      'additional_vocab[0].sounds_like[0]',
    ],
  ])('%s', (_, fields, fault) => {
    const faults = fault === null ? [] : [`transcription_config.${fault}`];
    expect(faultsOf(RAW, { language: 'en', ...fields })).toEqual(faults);
  });

  it('is an object', () => {
    expect(faultsOf(RAW, 'en')).toEqual(['transcription_config']);
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
