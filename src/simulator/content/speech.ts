import { seededRandom } from '../seeded-random.js';
import type { Language } from './vocabulary.js';

/** A word or a mark as it was "spoken". Times in seconds from the beginning. */
export interface SpokenToken {
  readonly kind: 'word' | 'comma' | 'stop';
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly confidence: number;
}

/**
 * `words` words spoken evenly over `seconds`, in sentences of 4 to 12 words. The same seed gives the same
 * speech, so that a transcript can be compared byte by byte wherever it turns up.
 */
export function speak(seed: string, language: Language, words: number, seconds: number): SpokenToken[] {
  const random = seededRandom(`speech:${seed}`);
  const tokens: SpokenToken[] = [];
  const pace = words > 0 ? seconds / words : 0;
  let left = sentenceLength(random);
  let begins = true;
  for (let index = 0; index < words; index += 1) {
    const start = index * pace + random() * pace * 0.2;
    const end = start + pace * (0.4 + random() * 0.35);
    const raw = language.words[Math.floor(random() * language.words.length)] ?? '';
    const text = begins ? capitalised(raw) : raw;
    tokens.push({ kind: 'word', text, start: ms(start), end: ms(end), confidence: certainty(random) });
    left -= 1;
    begins = left === 0 || index === words - 1;
    const comma = !begins && random() < 0.12;
    if (begins || comma) tokens.push(mark(begins ? 'stop' : 'comma', language, ms(end)));
    if (begins) left = sentenceLength(random);
  }
  return tokens;
}

function mark(kind: 'comma' | 'stop', language: Language, at: number): SpokenToken {
  return { kind, text: language[kind], start: at, end: at, confidence: 1 };
}

function sentenceLength(random: () => number): number {
  return 4 + Math.floor(random() * 9);
}

function certainty(random: () => number): number {
  return Math.round((0.62 + 0.38 * Math.sqrt(random())) * 100) / 100;
}

function capitalised(word: string): string {
  const [first = '', ...rest] = [...word];
  return first.toLocaleUpperCase('en') + rest.join('');
}

function ms(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
