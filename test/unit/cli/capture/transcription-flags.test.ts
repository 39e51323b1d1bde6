import { describe, expect, it } from '@jest/globals';
import {
  furtherFieldsOf,
  type TranscriptionFlags,
  transcriptionConfigOf,
} from '../../../../src/cli/capture/transcription-flags.js';

type Options = Omit<TranscriptionFlags, 'language'>;
const configOf = (options: Options) => transcriptionConfigOf({ language: 'en', ...options });
const furtherOf = (set: readonly string[]) => furtherFieldsOf({ language: 'en', set });

describe('the transcription configuration of a capture', () => {
  it.each<[string, Options, object]>([
    ['nothing but the language by default', {}, {}],
    [
      'permitted marks, all of them',
      { permittedMarks: 'all' },
      { punctuation_overrides: { permitted_marks: 'all' } },
    ],
    ['no punctuation', { permittedMarks: '' }, { punctuation_overrides: { permitted_marks: [] } }],
    ['a sensitivity alone', { punctuationSensitivity: 0 }, { punctuation_overrides: { sensitivity: 0 } }],
    ['the empty output locale', { outputLocale: '' }, { output_locale: '' }],
  ])('has %s', (_name, options, config) => {
    expect(configOf(options)).toEqual({ language: 'en', ...config });
  });

  it.each<[Options['diarization']]>([[undefined], ['none']])(
    'refuses a sensitivity that has no effect with diarization %s',
    (diarization) => {
      const mode = diarization === undefined ? {} : { diarization };
      expect(() => configOf({ speakerChangeSensitivity: 0.5, ...mode })).toThrow(
        '--diarization speaker_change',
      );
    },
  );
});

describe('further fields', () => {
  it('are JSON where it is JSON, and text otherwise', () => {
    expect(furtherOf(['a=1', 'b=true', 'c=en', 'd=x=y', 'e=', 'f=["g"]'])).toEqual({
      ...{ a: 1, b: true, c: 'en', d: 'x=y', e: '', f: ['g'] },
    });
  });

  it.each([
    ['operating_point', 'expected <field>=<value>'],
    ['=x', 'expected <field>=<value>'],
    ['__proto__=x', 'expected <field>=<value>'],
    ['max_delay=3', 'use --max-delay'],
    ['additional_vocab=[]', 'use --word'],
    ['punctuation_overrides={}', 'use --permitted-marks or --punctuation-sensitivity'],
    ['model=x', 'use --model'],
  ])('refuses %s', (text, message) => {
    expect(() => furtherOf([text])).toThrow(message);
  });
});
