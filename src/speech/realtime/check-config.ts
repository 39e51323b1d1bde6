import { z } from 'zod';
import { RealtimeConfigError, type SessionConfigFault } from './realtime-error.js';
import type { AdditionalWord, AudioFormat, TranscriptionConfig } from './wire.js';

/** The document's rules for messages of a client, checked before sending because callers may be untyped. Messages say what is expected. */

const nonEmpty = z.string('a non-empty string').refine((value) => value.trim() !== '', 'a non-empty string');

function between(low: number, high: number, unit = '') {
  const expected = `a number from ${low} to ${high}${unit}`;
  return z.number(expected).min(low, expected).max(high, expected).optional();
}

const pronunciation = z
  .string('a pronunciation without blanks')
  .regex(/^\S+$/, 'a pronunciation without blanks');

const word = z.preprocess(
  (value) => (typeof value === 'string' ? { content: value } : value),
  z.looseObject(
    {
      content: nonEmpty,
      sounds_like: z
        .array(pronunciation, 'at least one pronunciation')
        .min(1, 'at least one pronunciation')
        .optional(),
    },
    'a word, or an object with content',
  ),
);

const TRANSCRIPTION_CONFIG = z.looseObject(
  {
    language: nonEmpty,
    additional_vocab: z.array(word, 'a list of words').optional(),
    diarization: z.enum(['none', 'speaker_change'], 'one of none, speaker_change').optional(),
    enable_partials: z.boolean('true or false').optional(),
    max_delay: between(2, 20, ' (seconds)'),
    output_locale: z.string('a string').optional(),
    punctuation_overrides: z
      .looseObject(
        {
          permitted_marks: z
            .union([z.literal('all'), z.array(z.string())], 'a list of marks, or "all"')
            .optional(),
          sensitivity: between(0, 1),
        },
        'an object',
      )
      .optional(),
    speaker_change_sensitivity: between(0, 1),
  },
  'an object',
);

/** Bytes of one sample, by encoding (docs/service-interface.md#realtime). */
export const BYTES_PER_SAMPLE = { pcm_f32le: 4, pcm_s16le: 2, mulaw: 1 } as const;

const ENCODINGS = ['pcm_f32le', 'pcm_s16le', 'mulaw'] as const;
const SAMPLE_RATE = 'samples per second, an integer';

const AUDIO_FORMAT = z.discriminatedUnion(
  'type',
  [
    z.strictObject({ type: z.literal('file') }),
    z.strictObject({
      type: z.literal('raw'),
      encoding: z.enum(ENCODINGS, `one of ${ENCODINGS.join(', ')}`),
      sample_rate: z.int(SAMPLE_RATE).positive(SAMPLE_RATE),
    }),
  ],
  'raw or file',
);

/**
 * Throws `RealtimeConfigError`, which names every fault, unless StartRecognition may be sent with these. Fields of the
 * configuration that the document does not name are left to the service, which refuses what it does not know.
 */
export function checkStart(audio: AudioFormat, config: TranscriptionConfig): void {
  throwFaults([
    ...faultsOf(AUDIO_FORMAT, audio, 'audio_format'),
    ...faultsOf(TRANSCRIPTION_CONFIG, config, 'transcription_config'),
  ]);
}

/** The same rules for the fields of a SetRecognitionConfig. */
export function checkChange(change: Partial<TranscriptionConfig>): void {
  throwFaults(faultsOf(TRANSCRIPTION_CONFIG.partial(), change, 'transcription_config'));
}

function throwFaults(faults: readonly SessionConfigFault[]): void {
  if (faults.length > 0) throw new RealtimeConfigError(faults);
}

function faultsOf(schema: z.ZodType, value: unknown, root: string): SessionConfigFault[] {
  return (schema.safeParse(value).error?.issues ?? []).flatMap((issue) => {
    const path =
      root + issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
    if (issue.code !== 'unrecognized_keys') return [{ path, expected: issue.message }];
    return issue.keys.map((key) => ({ path: `${path}.${key}`, expected: 'is not a field of the protocol' }));
  });
}

/**
 * The configuration as it is sent. A plain string stands for itself as its own `sounds_like`, which must not
 * hold blanks: a phrase given as a string goes out as an object with `content` alone, which the document allows.
 */
export function wireConfig(config: TranscriptionConfig): TranscriptionConfig {
  if (config.additional_vocab === undefined) return config;
  return { ...config, additional_vocab: config.additional_vocab.map(wireWord) };
}

function wireWord(word: AdditionalWord): AdditionalWord {
  return typeof word === 'string' && /\s/.test(word) ? { content: word } : word;
}

/** Fields whose change the protocol forbids in a running session. */
export function fixedFields(change: Partial<TranscriptionConfig>, config: TranscriptionConfig): string[] {
  const now: Readonly<Record<string, unknown>> = { ...config };
  return Object.entries(change)
    .filter(([field]) => field !== 'max_delay' && field !== 'enable_partials')
    .filter(([field, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(now[field]))
    .map(([field]) => field);
}

/** The language and the current values of both changeable fields: the effect of leaving one out is not specified. */
export function changeableFields({
  language,
  max_delay,
  enable_partials,
}: TranscriptionConfig): TranscriptionConfig {
  return {
    language,
    ...(max_delay === undefined ? {} : { max_delay }),
    ...(enable_partials === undefined ? {} : { enable_partials }),
  };
}
