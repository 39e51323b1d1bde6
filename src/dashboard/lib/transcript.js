/**
 * Transcripts as turns to be read: `{speaker, start, words: [{text, start, end, sure}]}` with times in seconds.
 * Tolerates what it does not expect: a transcript comes from outside and may be anything that parses.
 */

/** Words below this confidence are marked. */
const SURE = 0.6;
/** Without speakers a turn ends after a sentence, once it is long enough to be a paragraph. */
const PARAGRAPH = 45;

/** Reads a json-v2 transcript. Null when it is none. */
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
      document.results.filter((result) => result !== null && typeof result === 'object'),
      delimiter,
    ),
  };
}

function turnsOf(results, delimiter) {
  const turns = [];
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

function wordOf(result, best, before) {
  const start = numberOr(result.start_time, 0);
  const sure = !(result.type === 'word' && numberOr(best.confidence, 1) < SURE);
  return { before, text: best.content, start, end: numberOr(result.end_time, start), sure };
}

const CUE_TIME = /^\s*(\d+):(\d\d):(\d\d)[,.](\d{1,3})\s*-->/;

/** Reads SubRip: a turn per cue. Null when there is no cue. */
export function readSrtTranscript(text) {
  const turns = [];
  for (const block of text.replaceAll('\r\n', '\n').split(/\n\s*\n/)) {
    const lines = block.split('\n');
    const at = lines.findIndex((line) => CUE_TIME.test(line));
    if (at < 0) continue;
    const [, hours, minutes, seconds, fraction] = CUE_TIME.exec(lines[at]);
    const start = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds) + Number(`0.${fraction}`);
    turns.push({ speaker: null, start, words: [plainWord(lines.slice(at + 1).join('\n'), start)] });
  }
  return turns.length === 0 ? null : { turns };
}

/** Plain text: a turn per paragraph, without times. */
export function readTextTranscript(text) {
  const paragraphs = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return {
    turns: paragraphs.map((line) => ({ speaker: null, start: null, words: [plainWord(line, null)] })),
  };
}

function plainWord(text, start) {
  return { before: '', text, start, end: start, sure: true };
}

function numberOr(value, otherwise) {
  return Number.isFinite(value) ? value : otherwise;
}

function textOr(value, otherwise) {
  return typeof value === 'string' ? value : otherwise;
}
