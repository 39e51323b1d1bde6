import type { TranscriptSegment } from './transcript-segment.js';

/** Reading habits of subtitles: two lines of 42 characters, seven seconds, a new cue after a pause. */
const MOST_CHARACTERS = 84;
const LINE_CHARACTERS = 42;
const MOST_SECONDS = 7;
const PAUSE_SECONDS = 1.5;
/** Players drop cues without duration. */
const LEAST_SECONDS = 0.2;

/** Languages written without blanks between words. */
const UNSPACED = new Set(['cmn', 'ja', 'th', 'yue', 'zh']);

interface Cue {
  start: number;
  end: number;
  text: string;
  /** Nothing may be added: a sentence ended, or the speaker changed. */
  closed: boolean;
}

/**
 * SubRip file of the final segments. Segments without words (agent sessions) become one cue each.
 *
 * @example
 * const subtitles = transcriptSrt(report.segments, 'en');
 */
export function transcriptSrt(segments: readonly TranscriptSegment[], language = ''): string {
  const space = UNSPACED.has(language.split('-')[0] ?? '') ? '' : ' ';
  const cues: Cue[] = [];
  for (const segment of segments) {
    if (segment.results.length === 0) addWholeSegment(cues, segment);
    for (const result of segment.results) addResult(cues, result, space);
  }
  return cues
    .filter((cue) => cue.text.trim() !== '')
    .map((cue, index) => `${index + 1}\n${time(cue.start)} --> ${time(endOf(cue))}\n${lines(cue.text)}\n`)
    .join('\n');
}

function addWholeSegment(cues: Cue[], { start, end, text, speaker }: TranscriptSegment): void {
  cues.push({ start, end, text: speaker === null ? text : `${speaker}: ${text.trim()}`, closed: true });
}

function addResult(cues: Cue[], result: TranscriptSegment['results'][number], space: string): void {
  const last = cues.at(-1);
  const content = result.alternatives?.[0]?.content;
  if (result.type === 'speaker_change' && last !== undefined) last.closed = true;
  if (content === undefined) return;
  const { start_time: start, end_time: end } = result;
  if (result.type === 'punctuation') {
    if (last === undefined) return;
    last.text += content;
    last.end = Math.max(last.end, end);
    last.closed ||= result.is_eos === true;
    return;
  }
  if (last === undefined || !fits(last, content, start, end))
    cues.push({ start, end, text: content, closed: false });
  else {
    last.text += `${space}${content}`;
    last.end = Math.max(last.end, end);
  }
}

function fits(cue: Cue, content: string, start: number, end: number): boolean {
  const short = cue.text.length + 1 + content.length <= MOST_CHARACTERS;
  return !cue.closed && short && end - cue.start <= MOST_SECONDS && start - cue.end <= PAUSE_SECONDS;
}

function endOf(cue: Cue): number {
  return Math.max(cue.end, cue.start + LEAST_SECONDS);
}

/** Blank lines and arrows would end a cue or begin another. */
function lines(text: string): string {
  const clean = text.replace(/\s+/g, ' ').replaceAll('-->', '->').trim();
  if (clean.length <= LINE_CHARACTERS) return clean;
  const middle = clean.length / 2;
  const breaks = [...clean.matchAll(/ /g)].map((match) => match.index);
  const at = breaks.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle))[0];
  return at === undefined ? clean : `${clean.slice(0, at)}\n${clean.slice(at + 1)}`;
}

/** `HH:MM:SS,mmm`. */
function time(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  const pad = (value: number, digits = 2): string => String(value).padStart(digits, '0');
  const clock = [ms / 3_600_000, (ms / 60_000) % 60, (ms / 1000) % 60].map((part) => pad(Math.floor(part)));
  return `${clock.join(':')},${pad(ms % 1000, 3)}`;
}
