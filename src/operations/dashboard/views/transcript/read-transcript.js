/**
 * Reads transcripts into turns, with times in seconds. Tolerates unexpected values: a transcript is untrusted input.
 *
 * @typedef {{turns: Turn[]}} Transcript
 * @typedef {{speaker: string | null, start: number | null, words: Word[]}} Turn
 * @typedef {object} Word
 * @property {string} before what separates it from the word before
 * @property {string} text
 * @property {boolean} sure
 *
 * @typedef {Record<'content' | 'speaker' | 'confidence', unknown>} Alternative
 * @typedef {Record<'type' | 'attaches_to' | 'start_time' | 'is_eos', unknown>
 *   & {alternatives?: (Alternative | undefined)[]}} JsonResult
 */

/** Words below this confidence are marked. */
const MIN_CONFIDENCE = 0.6;
/** Without speakers a turn ends after the sentence in which it reaches this many words. */
const PARAGRAPH = 45;

/**
 * Reads a json-v2 transcript. Null if the text is not one.
 * @param {string} text @returns {Transcript | null}
 */
export function readJsonTranscript(text) {
  let document;
  try {
    document = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(document?.results)) return null;
  const delimiter = textOr(document.metadata?.language_pack_info?.word_delimiter, ' ');
  return {
    turns: turnsOf(
      document.results.filter(
        (/** @type {unknown} */ result) => result !== null && typeof result === 'object',
      ),
      delimiter,
    ),
  };
}

/** @param {JsonResult[]} results @param {string} delimiter */
function turnsOf(results, delimiter) {
  /** @type {Turn[]} */
  const turns = [];
  /** @type {Turn | null} */
  let turn = null;
  let sentenceEnded = false;
  for (const result of results) {
    const best = result.alternatives?.[0];
    if (typeof best?.content !== 'string') continue;
    const speaker = textOr(best.speaker, null);
    const mark = result.type === 'punctuation' || result.attaches_to === 'previous';
    const tooLong = sentenceEnded && (turn?.words.length ?? 0) >= PARAGRAPH;
    if (turn === null || (!mark && (speaker !== turn.speaker || tooLong))) {
      turn = { speaker, start: numberOr(result.start_time, 0), words: [] };
      turns.push(turn);
    }
    turn.words.push(wordOf(result, best, mark || turn.words.length === 0 ? '' : delimiter));
    sentenceEnded = result.is_eos === true;
  }
  return turns;
}

/** @param {JsonResult} result @param {Alternative} best @param {string} before @returns {Word} */
function wordOf(result, { content, confidence }, before) {
  const sure = !(result.type === 'word' && numberOr(confidence, 1) < MIN_CONFIDENCE);
  return { before, text: String(content), sure };
}

const CUE_TIME = /^\s*(\d+):(\d\d):(\d\d)[,.](\d{1,3})\s*-->/;

/**
 * Reads SubRip: one turn per cue. Null if there is no cue.
 * @param {string} text @returns {Transcript | null}
 */
export function readSrtTranscript(text) {
  /** @type {Turn[]} */
  const turns = [];
  for (const block of text.replaceAll('\r\n', '\n').split(/\n\s*\n/)) {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => CUE_TIME.test(line));
    const cue = CUE_TIME.exec(lines[at] ?? '');
    if (cue === null) continue;
    const [, hours, minutes, seconds, fraction] = cue;
    const start = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(`0.${fraction}`);
    turns.push({ speaker: null, start, words: [plainWord(lines.slice(at + 1).join('\n'))] });
  }
  return turns.length === 0 ? null : { turns };
}

/**
 * Reads plain text: one turn per paragraph, without times.
 * @param {string} text @returns {Transcript}
 */
export function readTextTranscript(text) {
  const paragraphs = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return {
    turns: paragraphs.map((line) => ({ speaker: null, start: null, words: [plainWord(line)] })),
  };
}

/** @param {string} text @returns {Word} */
function plainWord(text) {
  return { before: '', text, sure: true };
}

/** @param {unknown} value @param {number} otherwise @returns {number} */
function numberOr(value, otherwise) {
  return typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
}

/** @template T @param {unknown} value @param {T} otherwise */
function textOr(value, otherwise) {
  return typeof value === 'string' ? value : otherwise;
}
