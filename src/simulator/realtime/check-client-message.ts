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

/** What a session admits of its client. */
export interface ClientRules {
  /** Admits what public clients do beyond the specification (docs/simulator.md#lenient). */
  readonly lenient: boolean;
}

const share = z.number().min(0).max(1).optional();
/** A plain string is its own `sounds_like`, and no `sounds_like` may hold blanks. */
const sound = z.string().regex(/^\S+$/);
const phrase = z.string().regex(/\S/);
const WORD = { content: phrase, sounds_like: z.array(sound).min(1).optional() };
const OVERRIDES = {
  permitted_marks: z.union([z.literal('all'), z.array(z.string())]).optional(),
  sensitivity: share,
};
const CONFIG = {
  language: z.string().min(1),
  additional_vocab: z.array(z.union([sound, z.strictObject(WORD)])).optional(),
  diarization: z.enum(['none', 'speaker_change']).optional(),
  enable_partials: z.boolean().optional(),
  max_delay: z.number().min(2).max(20).optional(),
  output_locale: z.string().optional(),
  punctuation_overrides: z.strictObject(OVERRIDES).optional(),
  speaker_change_sensitivity: share,
};
const RAW = { encoding: z.enum(['pcm_f32le', 'pcm_s16le', 'mulaw']), sample_rate: z.int().positive() };

const strictConfig = z.strictObject(CONFIG);
const strictStart = z.strictObject({
  message: z.string(),
  audio_format: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('raw'), ...RAW }),
    z.strictObject({ type: z.literal('file') }),
  ]),
  transcription_config: strictConfig,
});
const lenientConfig = z.looseObject({
  ...CONFIG,
  additional_vocab: z.array(z.union([phrase, z.looseObject(WORD)])).optional(),
  diarization: z.string().optional(),
  max_delay: z.number().positive().max(20).optional(),
  punctuation_overrides: z.looseObject(OVERRIDES).optional(),
});
const lenientStart = z.looseObject({
  audio_format: z.discriminatedUnion('type', [
    z.looseObject({ type: z.literal('raw'), ...RAW }),
    z.looseObject({ type: z.literal('file') }),
  ]),
  transcription_config: lenientConfig,
});

/** Reads a text frame into an object with a name; else `invalid_message`. */
export function parseClientMessage(text: string): Fields & { readonly message: string } {
  const value = parseJson(text);
  if (value === undefined) throw new Violation('invalid_message', 'Not JSON');
  if (!isJsonObject(value) || typeof value.message !== 'string')
    throw new Violation('invalid_message', 'No message name');
  return value as Fields & { readonly message: string };
}

export function checkStartRecognition(message: Fields, { lenient }: ClientRules): StartRecognition {
  const start = check(lenient ? lenientStart : strictStart, message);
  const { language } = start.transcription_config;
  if (!LANGUAGES.has(language)) throw new Violation('invalid_model', `No model for ${language}`);
  return message as unknown as StartRecognition;
}

/** The type of the Error says in which part of the message the first fault is. */
function check<Schema extends z.ZodType>(schema: Schema, message: Fields): z.output<Schema> {
  const { data, error } = schema.safeParse(message);
  if (error === undefined) return data as z.output<Schema>;
  const [{ path, message: fault } = { path: [], message: '' }] = error.issues;
  const part = String(path[0]);
  const type =
    part === 'audio_format'
      ? 'invalid_audio_type'
      : part === 'transcription_config'
        ? 'invalid_config'
        : 'invalid_message';
  throw new Violation(type, `${path.join('.')}: ${fault}`);
}

/** Reads a SetRecognitionConfig: only `max_delay` and `enable_partials` may differ from the current configuration. */
export function checkConfigChange(
  message: Fields,
  current: TranscriptionConfig,
  { lenient }: ClientRules,
): TranscriptionConfig {
  const { transcription_config: config } = message;
  const now = current as unknown as Fields;
  const change = lenient
    ? check(z.looseObject({ transcription_config: lenientConfig }), {
        ...message,
        transcription_config: isJsonObject(config) ? { language: current.language, ...config } : config,
      })
    : check(z.strictObject({ message: z.string(), transcription_config: strictConfig }), message);
  for (const [field, value] of Object.entries(change.transcription_config)) {
    if (['language', 'max_delay', 'enable_partials'].includes(field)) continue;
    if (lenient && !Object.hasOwn(CONFIG, field)) continue;
    if (JSON.stringify(value) !== JSON.stringify(now[field])) {
      throw new Violation('invalid_config', `${field} cannot be changed in a session`);
    }
  }
  return change.transcription_config as TranscriptionConfig;
}

/** `frames`: the number received. A lenient session also takes a lower one, the last that was acknowledged. */
export function checkLastSeqNo(lastSeqNo: number, frames: number, { lenient }: ClientRules): void {
  if (lastSeqNo === frames || (lenient && lastSeqNo >= 0 && lastSeqNo < frames)) return;
  throw new Violation('protocol_error', `${frames} frames came, not ${lastSeqNo}`);
}

/** Some clients count by channel: `{"single": 12}`. */
const byChannel = z.record(z.string(), z.int()).transform((counts) => {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
});

export function readEndOfStream(message: Fields, { lenient }: ClientRules): number {
  const end = lenient
    ? check(z.looseObject({ last_seq_no: z.union([z.int(), byChannel]) }), message)
    : check(z.strictObject({ message: z.string(), last_seq_no: z.int() }), message);
  return end.last_seq_no;
}
