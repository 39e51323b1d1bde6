import { isJsonObject } from '../../lib/text/parse-json.js';
import { RealtimeConfigError, type SessionConfigFault } from './realtime-error.js';
import type { AdditionalWord, AudioFormat, TranscriptionConfig } from './wire.js';

/**
 * The document's rules for what a client sends, checked before sending. Callers may be untyped, so the values
 * are looked at as unknown. All faults are reported at once.
 */
type Check = (value: unknown) => string | null;

const text: Check = (value) => (typeof value === 'string' ? null : 'a string');
const flag: Check = (value) => (typeof value === 'boolean' ? null : 'true or false');
const nonEmpty: Check = (value) =>
  typeof value === 'string' && value.trim() !== '' ? null : 'a non-empty string';

function between(low: number, high: number, unit = ''): Check {
  return (value) =>
    typeof value === 'number' && value >= low && value <= high
      ? null
      : `a number from ${low} to ${high}${unit}`;
}

function oneOf(...allowed: readonly string[]): Check {
  return (value) =>
    typeof value === 'string' && allowed.includes(value) ? null : `one of ${allowed.join(', ')}`;
}

const marks: Check = (value) =>
  value === 'all' || (Array.isArray(value) && value.every((mark) => typeof mark === 'string'))
    ? null
    : 'a list of marks, or "all"';

const FIELDS: Readonly<Record<string, Check>> = {
  language: nonEmpty,
  additional_vocab: (value) => (Array.isArray(value) ? null : 'a list of words'),
  diarization: oneOf('none', 'speaker_change'),
  enable_partials: flag,
  max_delay: between(2, 20, ' (seconds)'),
  output_locale: text,
  punctuation_overrides: (value) => (isJsonObject(value) ? null : 'an object'),
  speaker_change_sensitivity: between(0, 1),
};

const PUNCTUATION_FIELDS: Readonly<Record<string, Check>> = {
  permitted_marks: marks,
  sensitivity: between(0, 1),
};

/** Bytes of one sample, by encoding (docs/service-interface.md#realtime). */
export const BYTES_PER_SAMPLE = { pcm_f32le: 4, pcm_s16le: 2, mulaw: 1 } as const;

/**
 * Throws `RealtimeConfigError` unless StartRecognition may be sent with these. Fields of the configuration that the document
 * does not name are left to the service, which refuses what it does not know.
 */
export function checkStart(audio: AudioFormat, config: TranscriptionConfig): void {
  raise([...audioFaults(audio), ...configFaults(config)]);
}

/** The same rules for the fields of a SetRecognitionConfig. */
export function checkChange(change: Partial<TranscriptionConfig>): void {
  raise(fieldFaults(change, FIELDS, 'transcription_config'));
}

function raise(faults: readonly SessionConfigFault[]): void {
  if (faults.length > 0) throw new RealtimeConfigError(faults);
}

function audioFaults(audio: unknown): SessionConfigFault[] {
  if (!isJsonObject(audio)) return [{ path: 'audio_format', expected: 'an object' }];
  if (audio.type === 'file') return unknownFields(audio, ['type']);
  const rules = {
    type: oneOf('raw', 'file'),
    encoding: oneOf(...Object.keys(BYTES_PER_SAMPLE)),
    sample_rate: ((value) =>
      Number.isSafeInteger(value) && (value as number) > 0
        ? null
        : 'samples per second, an integer') as Check,
  };
  if (audio.type !== 'raw') return [{ path: 'audio_format.type', expected: 'one of raw, file' }];
  return [
    ...missing(audio, Object.keys(rules), 'audio_format'),
    ...fieldFaults(audio, rules, 'audio_format'),
    ...unknownFields(audio, Object.keys(rules)),
  ];
}

function configFaults(config: unknown): SessionConfigFault[] {
  const path = 'transcription_config';
  if (!isJsonObject(config)) return [{ path, expected: 'an object' }];
  const overrides = config.punctuation_overrides;
  return [
    ...missing(config, ['language'], path),
    ...fieldFaults(config, FIELDS, path),
    ...(isJsonObject(overrides)
      ? fieldFaults(overrides, PUNCTUATION_FIELDS, `${path}.punctuation_overrides`)
      : []),
    ...vocabFaults(config.additional_vocab, `${path}.additional_vocab`),
  ];
}

function missing(
  object: Record<string, unknown>,
  required: readonly string[],
  path: string,
): SessionConfigFault[] {
  return required
    .filter((field) => object[field] === undefined)
    .map((field) => ({ path: `${path}.${field}`, expected: 'is required' }));
}

function unknownFields(audio: object, known: readonly string[]): SessionConfigFault[] {
  return Object.entries(audio)
    .filter(([field, value]) => value !== undefined && !known.includes(field))
    .map(([field]) => ({ path: `audio_format.${field}`, expected: 'is not a field of the protocol' }));
}

function fieldFaults(
  object: object,
  rules: Readonly<Record<string, Check>>,
  path: string,
): SessionConfigFault[] {
  const faults: SessionConfigFault[] = [];
  for (const [field, value] of Object.entries(object)) {
    if (value === undefined) continue;
    const rule = Object.hasOwn(rules, field) ? rules[field] : undefined;
    const expected = rule?.(value) ?? null;
    if (expected !== null) faults.push({ path: `${path}.${field}`, expected });
  }
  return faults;
}

function vocabFaults(vocab: unknown, path: string): SessionConfigFault[] {
  if (!Array.isArray(vocab)) return [];
  return vocab.flatMap((word: unknown, index) => wordFaults(word, `${path}[${index}]`));
}

function wordFaults(word: unknown, path: string): SessionConfigFault[] {
  if (!isJsonObject(word)) {
    return nonEmpty(word) === null ? [] : [{ path, expected: 'a word, or an object with content' }];
  }
  const faults = missing(word, ['content'], path);
  if (word.content !== undefined && nonEmpty(word.content) !== null) {
    faults.push({ path: `${path}.content`, expected: 'a non-empty string' });
  }
  const sounds = word.sounds_like;
  if (sounds === undefined) return faults;
  if (!Array.isArray(sounds) || sounds.length === 0) {
    return [...faults, { path: `${path}.sounds_like`, expected: 'at least one pronunciation' }];
  }
  for (const [index, sound] of sounds.entries()) {
    if (typeof sound !== 'string' || sound === '' || /\s/.test(sound)) {
      faults.push({ path: `${path}.sounds_like[${index}]`, expected: 'a pronunciation without blanks' });
    }
  }
  return faults;
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
