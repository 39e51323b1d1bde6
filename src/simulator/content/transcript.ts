import type { TranscriptResult, TranscriptV2 } from '../../speech/wire.js';
import type { SpokenToken } from './speech.js';
import type { Language } from './vocabulary.js';

/** Fields of a transcript about its job. */
export interface TranscriptSubject {
  readonly id: string;
  readonly createdAt: string;
  readonly dataName: string;
  readonly duration: number;
  readonly transcriptionConfig: Readonly<Record<string, unknown>>;
}

/** The transcript in `json-v2` format, as the service would send it. */
export function jsonTranscript(
  subject: TranscriptSubject,
  language: Language,
  tokens: readonly SpokenToken[],
): Buffer {
  const transcript: TranscriptV2 = {
    format: '2.9',
    job: {
      created_at: subject.createdAt,
      data_name: subject.dataName,
      duration: subject.duration,
      id: subject.id,
    },
    metadata: {
      created_at: subject.createdAt,
      type: 'transcription',
      language_pack_info: {
        language_description: language.description,
        word_delimiter: language.delimiter,
        writing_direction: language.direction === 'rtl' ? 'right-to-left' : 'left-to-right',
      },
      transcription_config: subject.transcriptionConfig,
    },
    results: tokens.map((token) => result(token, language)),
  };
  return Buffer.from(JSON.stringify(transcript));
}

function result(token: SpokenToken, language: Language): TranscriptResult {
  const mark = token.kind !== 'word';
  return {
    alternatives: [
      {
        confidence: token.confidence,
        content: token.text,
        language: language.code,
        ...(language.direction === 'rtl' ? { display: { direction: 'rtl' } } : {}),
      },
    ],
    ...(mark ? { attaches_to: 'previous' } : {}),
    end_time: token.end,
    ...(mark ? { is_eos: token.kind === 'stop' } : {}),
    start_time: token.start,
    type: mark ? 'punctuation' : 'word',
  };
}

/** Plain text, one sentence after the other. */
export function textTranscript(language: Language, tokens: readonly SpokenToken[]): Buffer {
  return Buffer.from(
    sentences(tokens)
      .map((sentence) => written(sentence, language))
      .join(language.delimiter),
  );
}

/** SubRip, one cue per sentence. */
export function srtTranscript(language: Language, tokens: readonly SpokenToken[]): Buffer {
  const cues = sentences(tokens).map((sentence, index) => {
    const from = srtTime(sentence[0]?.start ?? 0);
    const to = srtTime(sentence.at(-1)?.end ?? 0);
    return `${index + 1}\n${from} --> ${to}\n${written(sentence, language)}\n`;
  });
  return Buffer.from(cues.join('\n'));
}

function sentences(tokens: readonly SpokenToken[]): SpokenToken[][] {
  const found: SpokenToken[][] = [];
  let current: SpokenToken[] = [];
  for (const token of tokens) {
    current.push(token);
    if (token.kind !== 'stop') continue;
    found.push(current);
    current = [];
  }
  return found;
}

function written(sentence: readonly SpokenToken[], language: Language): string {
  return sentence.reduce((text, token) => {
    if (token.kind !== 'word' || text === '') return text + token.text;
    return text + language.delimiter + token.text;
  }, '');
}

function srtTime(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1000) % 60)},${String(ms % 1000).padStart(3, '0')}`;
}
