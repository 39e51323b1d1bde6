import type {
  AdditionalWord,
  PunctuationOverrides,
  TranscriptionConfig,
} from '../../speech/realtime/wire.js';
import { UsageError } from '../shared/exit-codes.js';

/** Options of the command line that choose how the service transcribes. */
export interface TranscriptionFlags {
  readonly language: string;
  readonly partials?: true;
  readonly maxDelay?: number;
  readonly diarization?: 'none' | 'speaker_change';
  readonly speakerChangeSensitivity?: number;
  readonly outputLocale?: string;
  readonly permittedMarks?: string;
  readonly punctuationSensitivity?: number;
  readonly word?: readonly string[];
  readonly model?: string;
  readonly set?: readonly string[];
}

/** Every field of the specification has an option of its own, so that its value is checked before anything is sent. */
const OPTION_OF: Readonly<Record<keyof TranscriptionConfig | 'model', string>> = {
  language: '--language',
  additional_vocab: '--word',
  diarization: '--diarization',
  enable_partials: '--partials',
  max_delay: '--max-delay',
  output_locale: '--output-locale',
  punctuation_overrides: '--permitted-marks or --punctuation-sensitivity',
  speaker_change_sensitivity: '--speaker-change-sensitivity',
  model: '--model',
};

/** The specified fields of the configuration that the flags ask for. */
export function transcriptionConfigOf(flags: TranscriptionFlags): TranscriptionConfig {
  const { language, partials, maxDelay, diarization, speakerChangeSensitivity, outputLocale, word } = flags;
  if (speakerChangeSensitivity !== undefined && diarization !== 'speaker_change')
    throw new UsageError('--speaker-change-sensitivity needs --diarization speaker_change');
  const overrides = punctuationOf(flags);
  return {
    language,
    ...(partials ? { enable_partials: true } : {}),
    ...(maxDelay === undefined ? {} : { max_delay: maxDelay }),
    ...(diarization === undefined ? {} : { diarization }),
    ...(speakerChangeSensitivity === undefined
      ? {}
      : { speaker_change_sensitivity: speakerChangeSensitivity }),
    ...(outputLocale === undefined ? {} : { output_locale: outputLocale }),
    ...(overrides === null ? {} : { punctuation_overrides: overrides }),
    ...(word === undefined ? {} : { additional_vocab: word.map(additionalWord) }),
  };
}

/** Fields that the specification of live sessions does not have: `--model` and `--set`. */
export function furtherFieldsOf({ model, set = [] }: TranscriptionFlags): Readonly<Record<string, unknown>> {
  const named = set.map((text) => {
    const [, field, value] = /^([A-Za-z]\w*)=(.*)$/s.exec(text) ?? [];
    if (field === undefined || value === undefined)
      throw new UsageError(`--set ${text}: expected <field>=<value>, such as operating_point=enhanced`);
    if (Object.hasOwn(OPTION_OF, field))
      throw new UsageError(`--set ${field}: use ${OPTION_OF[field as keyof typeof OPTION_OF]}`);
    return [field, jsonOrText(value)] as const;
  });
  return { ...(model === undefined ? {} : { model }), ...Object.fromEntries(named) };
}

function punctuationOf({
  permittedMarks,
  punctuationSensitivity,
}: TranscriptionFlags): PunctuationOverrides | null {
  if (permittedMarks === undefined && punctuationSensitivity === undefined) return null;
  return {
    ...(permittedMarks === undefined ? {} : { permitted_marks: marksOf(permittedMarks) }),
    ...(punctuationSensitivity === undefined ? {} : { sensitivity: punctuationSensitivity }),
  };
}

function marksOf(text: string): 'all' | string[] {
  return text === 'all' ? 'all' : text.split(/\s+/).filter((mark) => mark !== '');
}

function additionalWord(text: string): AdditionalWord {
  const at = text.indexOf('=');
  if (at === -1) return text;
  const [first = '', ...others] = text
    .slice(at + 1)
    .split(',')
    .map((sound) => sound.trim());
  return { content: text.slice(0, at).trim(), sounds_like: [first, ...others] };
}

function jsonOrText(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
