import { z } from 'zod';
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

/** Codes with a model. */
const LANGUAGES: ReadonlySet<string> = new Set(['en', 'en-US', 'en-GB', 'en-AU', 'de', 'es', 'fr', 'ja']);

const share = z.number().min(0).max(1).optional();
/** A plain string is its own `sounds_like`, and no `sounds_like` may hold blanks. */
const sound = z.string().regex(/^\S+$/);
const phrase = z.string().regex(/\S/);
const transcriptionConfig = z.strictObject({
  language: z.string().min(1),
  additional_vocab: z
    .array(
      z.union([sound, z.strictObject({ content: phrase, sounds_like: z.array(sound).min(1).optional() })]),
    )
    .optional(),
  diarization: z.enum(['none', 'speaker_change']).optional(),
  enable_partials: z.boolean().optional(),
  max_delay: z.number().min(2).max(20).optional(),
  output_locale: z.string().optional(),
  punctuation_overrides: z
    .strictObject({
      permitted_marks: z.union([z.literal('all'), z.array(z.string())]).optional(),
      sensitivity: share,
    })
    .optional(),
  speaker_change_sensitivity: share,
});
const startRecognition = z.strictObject({
  message: z.string(),
  audio_format: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('raw'),
      encoding: z.enum(['pcm_f32le', 'pcm_s16le', 'mulaw']),
      sample_rate: z.int().positive(),
    }),
    z.strictObject({ type: z.literal('file') }),
  ]),
  transcription_config: transcriptionConfig,
});
const setRecognitionConfig = z.strictObject({
  message: z.string(),
  transcription_config: transcriptionConfig,
});
const endOfStream = z.strictObject({ message: z.string(), last_seq_no: z.int() });

/** Reads a text frame into an object with a name; else `invalid_message`. */
export function parseClientMessage(text: string): Fields & { readonly message: string } {
  const value = parseJson(text);
  if (value === undefined) throw new Violation('invalid_message', 'Not JSON');
  if (!isJsonObject(value) || typeof value.message !== 'string')
    throw new Violation('invalid_message', 'No message name');
  return value as Fields & { readonly message: string };
}

export function checkStartRecognition(message: Fields): StartRecognition {
  const { language } = check(startRecognition, message).transcription_config;
  if (!LANGUAGES.has(language)) throw new Violation('invalid_model', `No model for ${language}`);
  return message as unknown as StartRecognition;
}

const TYPES_BY_FIELD: Readonly<Record<string, DocumentedErrorType>> = {
  audio_format: 'invalid_audio_type',
  transcription_config: 'invalid_config',
};

/** The type of the Error names the part of the message that has the first fault. */
function check<Schema extends z.ZodType>(schema: Schema, message: Fields): z.output<Schema> {
  const { data, error } = schema.safeParse(message);
  if (error === undefined) return data as z.output<Schema>;
  const [{ path, message: fault } = { path: [], message: '' }] = error.issues;
  const type = TYPES_BY_FIELD[String(path[0])] ?? 'invalid_message';
  throw new Violation(type, `${path.join('.')}: ${fault}`);
}

/** Reads a SetRecognitionConfig: only `max_delay` and `enable_partials` may differ from the current configuration. */
export function checkConfigChange(message: Fields, current: TranscriptionConfig): TranscriptionConfig {
  const now = current as unknown as Fields;
  const { transcription_config: config } = check(setRecognitionConfig, message);
  for (const [field, value] of Object.entries(config)) {
    if (['language', 'max_delay', 'enable_partials'].includes(field)) continue;
    if (JSON.stringify(value) !== JSON.stringify(now[field]))
      throw new Violation('invalid_config', `${field} cannot be changed in a session`);
  }
  return config as TranscriptionConfig;
}

/** The number of frames that an EndOfStream says were sent. */
export function readEndOfStream(message: Fields): number {
  return check(endOfStream, message).last_seq_no;
}
