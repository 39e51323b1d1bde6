import type {
  AddPartialTranscript,
  AddTranscript,
  RealtimeResult,
  TranscriptionConfig,
} from '../../speech/realtime/wire.js';

const WORDS =
  'welcome to this call we are glad that you could join us today let us begin with what is new'.split(' ');
/** One word each 400 ms, 350 ms long; a sentence of seven words. */
const WORD_EVERY = 0.4;
const WORD_LENGTH = 0.35;
const SENTENCE_WORDS = 7;

type Transcript = AddTranscript | AddPartialTranscript;

/** Simulates recognition: one word for every 400 ms of audio, independent of its content and deterministic. */
export class Recogniser {
  #config: TranscriptionConfig;
  #seconds = 0;
  #words = 0;
  /** Words since the last final, with absolute start times. */
  #pending: { readonly text: string; readonly at: number }[] = [];
  #sentences = 0;
  #sentenceWords = 0;

  constructor(config: TranscriptionConfig) {
    this.#config = config;
  }

  /** SetRecognitionConfig. */
  change(config: TranscriptionConfig): void {
    const { max_delay = this.#config.max_delay, enable_partials = this.#config.enable_partials } = config;
    this.#config = {
      ...this.#config,
      ...(max_delay === undefined ? {} : { max_delay }),
      ...(enable_partials === undefined ? {} : { enable_partials }),
    };
  }

  /** Recognises `seconds` more; returns the resulting transcripts in order. */
  hear(seconds: number): Transcript[] {
    const transcripts: Transcript[] = [];
    this.#seconds += seconds;
    // Sums of many small frames drift; a word must not depend on the last bit.
    while ((this.#words + 1) * WORD_EVERY <= this.#seconds + 1e-6) {
      this.#pending.push({ text: this.#nextWord(), at: this.#words * WORD_EVERY });
      this.#words += 1;
      this.#sentenceWords += 1;
      transcripts.push(...this.#afterWord());
    }
    return transcripts;
  }

  /** The stream has ended: what is pending becomes final. */
  finish(): Transcript[] {
    return this.#pending.length === 0 ? [] : [this.#final()];
  }

  #nextWord(): string {
    const word = WORDS[this.#words % WORDS.length] ?? '';
    return this.#sentenceWords === 0 ? `${word.charAt(0).toUpperCase()}${word.slice(1)}` : word;
  }

  #afterWord(): Transcript[] {
    const oldest = this.#pending[0]?.at ?? 0;
    const late = this.#words * WORD_EVERY - oldest >= (this.#config.max_delay ?? 10);
    if (this.#sentenceWords === SENTENCE_WORDS || late) return [this.#final()];
    return this.#config.enable_partials === true ? [this.#partial()] : [];
  }

  #partial(): AddPartialTranscript {
    return { message: 'AddPartialTranscript', ...this.#body(0) };
  }

  #final(): AddTranscript {
    const transcript: AddTranscript = { message: 'AddTranscript', ...this.#body(0.95) };
    this.#pending = [];
    if (this.#sentenceWords === SENTENCE_WORDS) {
      this.#sentenceWords = 0;
      this.#sentences += 1;
    }
    return transcript;
  }

  #body(confidence: number): Pick<AddTranscript, 'metadata' | 'results'> {
    const start = this.#pending[0]?.at ?? 0;
    const end = (this.#pending.at(-1)?.at ?? 0) + WORD_LENGTH;
    const results: RealtimeResult[] = this.#pending.map(({ text, at }) => ({
      type: 'word',
      start_time: at - start,
      end_time: at - start + WORD_LENGTH,
      alternatives: [
        { content: text, confidence, language: this.#config.language, display: { direction: 'ltr' } },
      ],
    }));
    if (this.#startsTurn())
      results.unshift({ type: 'speaker_change', start_time: 0, end_time: 0, alternatives: [] });
    const mark = this.#endsSentence() ? '.' : '';
    if (mark !== '') results.push(this.#mark(end - start, confidence));
    const text = `${this.#pending.map((word) => word.text).join(' ')}${mark} `;
    return { metadata: { start_time: start, end_time: end, transcript: text }, results };
  }

  #mark(at: number, confidence: number): RealtimeResult {
    const alternatives = [{ content: '.', confidence, language: this.#config.language }];
    return { type: 'punctuation', start_time: at, end_time: at, is_eos: true, alternatives };
  }

  #endsSentence(): boolean {
    const marks = this.#config.punctuation_overrides?.permitted_marks ?? 'all';
    return this.#sentenceWords === SENTENCE_WORDS && (marks === 'all' || marks.includes('.'));
  }

  /** Every second sentence is another speaker's. */
  #startsTurn(): boolean {
    const isFirstOfSentence = this.#pending.length === this.#sentenceWords;
    return this.#config.diarization === 'speaker_change' && isFirstOfSentence && this.#sentences % 2 === 1;
  }
}
