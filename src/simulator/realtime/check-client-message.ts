import { isJsonObject, parseJson } from '../../lib/text/parse-json.js';
import type {
  DocumentedErrorType,
  StartRecognition,
  TranscriptionConfig,
} from '../../speech/realtime/wire.js';

/** A message that the service rejects, with the type of its Error. */
export class Violation extends Error {
  readonly type: DocumentedErrorType;

  constructor(type: DocumentedErrorType, reason: string) {
    super(reason);
    this.name = 'Violation';
    this.type = type;
  }
}

type Fields = Readonly<Record<string, unknown>>;

const isText = (value: unknown): value is string => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const inRange = (value: unknown, low: number, high: number): boolean =>
  typeof value === 'number' && value >= low && value <= high;

/** Codes with a model. */
const LANGUAGES: ReadonlySet<string> = new Set(['en', 'en-US', 'en-GB', 'en-AU', 'de', 'es', 'fr', 'ja']);

/** What a session admits of its client. */
export interface ClientRules {
  /** Admits what public clients do beyond the specification (docs/simulator.md#lenient). */
  readonly lenient: boolean;
}

type FieldRules = Readonly<Record<string, (value: unknown) => boolean>>;

const STRICT_FIELDS: FieldRules = {
  language: (value) => isText(value) && value !== '',
  additional_vocab: (value) => Array.isArray(value) && value.every(isAdditionalWord),
  diarization: (value) => value === 'none' || value === 'speaker_change',
  enable_partials: isFlag,
  max_delay: (value) => inRange(value, 2, 20),
  output_locale: isText,
  punctuation_overrides: isOverrides,
  speaker_change_sensitivity: (value) => inRange(value, 0, 1),
};

const LENIENT_FIELDS: FieldRules = {
  ...STRICT_FIELDS,
  additional_vocab: (value) =>
    Array.isArray(value) &&
    value.every((word) => (isText(word) ? word.trim() !== '' : isAdditionalWord(known(word, WORD_FIELDS)))),
  diarization: isText,
  max_delay: (value) => inRange(value, Number.MIN_VALUE, 20),
  punctuation_overrides: (value) => isOverrides(known(value, OVERRIDE_FIELDS)),
};

const WORD_FIELDS = ['content', 'sounds_like'];
const OVERRIDE_FIELDS = ['permitted_marks', 'sensitivity'];

/** Reads a text frame into an object with a name; else `invalid_message`. */
export function parseClientMessage(text: string): Fields & { readonly message: string } {
  const value = parseJson(text);
  if (value === undefined) throw new Violation('invalid_message', 'Not JSON');
  if (!isJsonObject(value) || !isText(value.message))
    throw new Violation('invalid_message', 'No message name');
  return value as Fields & { readonly message: string };
}

export function checkStartRecognition(message: Fields, { lenient }: ClientRules): StartRecognition {
  if (!lenient) only(message, ['message', 'audio_format', 'transcription_config'], 'invalid_message');
  checkAudioFormat(message.audio_format, lenient);
  const config = checkTranscriptionConfig(message.transcription_config, lenient);
  if (!LANGUAGES.has(config.language))
    throw new Violation('invalid_model', `No model for ${config.language}`);
  return message as unknown as StartRecognition;
}

function checkTranscriptionConfig(config: unknown, lenient: boolean): Fields & { readonly language: string } {
  if (!isJsonObject(config)) throw new Violation('invalid_config', 'transcription_config is missing');
  if (config.language === undefined) throw new Violation('invalid_config', 'language is missing');
  const rules = lenient ? LENIENT_FIELDS : STRICT_FIELDS;
  if (!lenient) only(config, Object.keys(rules), 'invalid_config');
  for (const [field, rule] of Object.entries(rules)) {
    const value = config[field];
    if (value !== undefined && !rule(value)) throw new Violation('invalid_config', `${field} is not valid`);
  }
  return config as Fields & { readonly language: string };
}

/** Reads a SetRecognitionConfig: only `max_delay` and `enable_partials` may differ from the current configuration. */
export function checkConfigChange(
  message: Fields,
  current: TranscriptionConfig,
  { lenient }: ClientRules,
): TranscriptionConfig {
  if (!lenient) only(message, ['message', 'transcription_config'], 'invalid_message');
  const { transcription_config: config } = message;
  const named = lenient && isJsonObject(config) ? { language: current.language, ...config } : config;
  const change = checkTranscriptionConfig(named, lenient);
  const now = current as unknown as Fields;
  for (const [field, value] of Object.entries(change)) {
    if (['language', 'max_delay', 'enable_partials'].includes(field)) continue;
    if (lenient && !Object.hasOwn(LENIENT_FIELDS, field)) continue;
    if (JSON.stringify(value) !== JSON.stringify(now[field])) {
      throw new Violation('invalid_config', `${field} cannot be changed in a session`);
    }
  }
  return change as unknown as TranscriptionConfig;
}

/** `frames`: the number received. A lenient session also takes a lower one, the last that was acknowledged. */
export function checkLastSeqNo(lastSeqNo: number, frames: number, { lenient }: ClientRules): void {
  if (lastSeqNo === frames || (lenient && lastSeqNo >= 0 && lastSeqNo < frames)) return;
  throw new Violation('protocol_error', `${frames} frames came, not ${lastSeqNo}`);
}

export function readEndOfStream(message: Fields, { lenient }: ClientRules): number {
  if (!lenient) only(message, ['message', 'last_seq_no'], 'invalid_message');
  const last = lenient ? sumOfChannels(message.last_seq_no) : message.last_seq_no;
  if (!Number.isSafeInteger(last)) throw new Violation('invalid_message', 'last_seq_no is not an integer');
  return last as number;
}

/** Some clients count by channel: `{"single": 12}`. */
function sumOfChannels(lastSeqNo: unknown): unknown {
  if (!isJsonObject(lastSeqNo)) return lastSeqNo;
  return Object.values(lastSeqNo).reduce<number>(
    (sum, count) => sum + (typeof count === 'number' ? count : NaN),
    0,
  );
}

function checkAudioFormat(format: unknown, lenient: boolean): void {
  if (!isJsonObject(format)) throw new Violation('invalid_audio_type', 'audio_format is missing');
  if (format.type !== 'raw' && format.type !== 'file') {
    throw new Violation('invalid_audio_type', 'type is neither raw nor file');
  }
  if (!lenient) {
    only(
      format,
      format.type === 'raw' ? ['type', 'encoding', 'sample_rate'] : ['type'],
      'invalid_audio_type',
    );
  }
  if (format.type === 'raw') checkRawFormat(format);
}

function checkRawFormat(format: Fields): void {
  if (!isText(format.encoding) || !['pcm_f32le', 'pcm_s16le', 'mulaw'].includes(format.encoding)) {
    throw new Violation('invalid_audio_type', 'encoding is not supported');
  }
  if (!Number.isSafeInteger(format.sample_rate) || (format.sample_rate as number) <= 0) {
    throw new Violation('invalid_audio_type', 'sample_rate is not an integer');
  }
}

/** The object without fields of other names; anything else as it is. */
function known(value: unknown, fields: readonly string[]): unknown {
  return isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).filter(([field]) => fields.includes(field)))
    : value;
}

function only(object: Fields, known: readonly string[], type: DocumentedErrorType): void {
  const extra = Object.keys(object).find((field) => !known.includes(field));
  if (extra !== undefined) throw new Violation(type, `${extra} is not a field`);
}

/** A plain string is its own `sounds_like`, and no `sounds_like` may hold blanks. */
function isAdditionalWord(word: unknown): boolean {
  if (isText(word)) return word !== '' && !/\s/.test(word);
  if (!isJsonObject(word) || !isText(word.content) || word.content.trim() === '') return false;
  if (Object.keys(word).some((field) => field !== 'content' && field !== 'sounds_like')) return false;
  const sounds = word.sounds_like;
  if (sounds === undefined) return true;
  return (
    Array.isArray(sounds) && sounds.length > 0 && sounds.every((each) => isText(each) && /^\S+$/.test(each))
  );
}

function isOverrides(overrides: unknown): boolean {
  if (!isJsonObject(overrides)) return false;
  const { permitted_marks: marks, sensitivity, ...others } = overrides;
  const marksFit = marks === undefined || marks === 'all' || (Array.isArray(marks) && marks.every(isText));
  return (
    marksFit && (sensitivity === undefined || inRange(sensitivity, 0, 1)) && Object.keys(others).length === 0
  );
}
