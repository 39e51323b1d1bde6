import { diffArrays } from '../../vendor/diff/array.js';

/** @import { Transcript, Word } from './read-transcript.js' */

/** @typedef {Pick<Word, 'before' | 'text' | 'start'>} ComparedWord */
/** @typedef {{same: boolean, first: ComparedWord[], second: ComparedWord[]}} Run equal words, or those of one side */
/** @typedef {{changed: boolean, text: string}} TextRun */
/** @typedef {{start: number | null, first: TextRun[], second: TextRun[]}} Place */
/**
 * @typedef {{places: Place[], note?: undefined} | {note: string}} Comparison
 * the places where two transcripts differ, or a note why there is nothing to show
 */

/** About ten hours of speech; longer transcripts are not compared in the page. */
const MAX_WORDS = 100_000;
/** Words removed and added. Beyond this many the marks are of no use, and the search takes seconds. */
const MAX_DIFFERENCES = 2000;
/** Equal words shown on each side of a difference. */
const CONTEXT = 12;

/**
 * Compares two transcripts word by word.
 * @param {Transcript} one @param {Transcript} other @returns {Comparison}
 */
export function compareTranscripts(one, other) {
  const first = wordsOf(one);
  const second = wordsOf(other);
  if (Math.max(first.length, second.length) > MAX_WORDS)
    return {
      note: `A transcript of more than ${MAX_WORDS.toLocaleString('en')} words is not compared here. Download both to compare them.`,
    };
  const runs = runsOf(first, second);
  if (runs === null)
    return {
      note: `The versions differ in more than ${MAX_DIFFERENCES.toLocaleString('en')} words: they are different transcripts. Read each of them below, or download both.`,
    };
  if (runs.every(({ same }) => same))
    return {
      note: 'Both versions have the same words. They differ only in times, confidence, metadata or spaces.',
    };
  return { places: placesOf(runs) };
}

/**
 * Compares by text only: equal words can differ in times and spaces. Null if there are more than `MAX_DIFFERENCES`.
 * @param {ComparedWord[]} first @param {ComparedWord[]} second @returns {Run[] | null}
 */
function runsOf(first, second) {
  const comparator = (/** @type {ComparedWord} */ a, /** @type {ComparedWord} */ b) => a.text === b.text;
  const changes = diffArrays(first, second, { comparator, maxEditLength: MAX_DIFFERENCES });
  if (changes === undefined) return null;
  let [inFirst, inSecond] = [0, 0];
  return changes.map(({ added, removed, count }) => {
    const run = {
      same: !added && !removed,
      first: added ? [] : first.slice(inFirst, inFirst + count),
      second: removed ? [] : second.slice(inSecond, inSecond + count),
    };
    inFirst += run.first.length;
    inSecond += run.second.length;
    return run;
  });
}

/**
 * One word each, with the speaker before each turn. In scripts without spaces every character is a word.
 * @param {Transcript} transcript
 */
function wordsOf({ turns }) {
  /** @type {ComparedWord[]} */
  const words = [];
  let speaker = null;
  for (const turn of turns) {
    if (turn.speaker !== null && turn.speaker !== speaker)
      words.push({ before: ' ', text: `Speaker ${turn.speaker}:`, start: turn.start });
    speaker = turn.speaker;
    for (const [index, word] of turn.words.entries()) words.push(...split(word, index === 0 ? ' ' : ''));
  }
  return words;
}

const WORD =
  /(\s*)([\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]+)/gu;

/** @param {Word} word @param {string} atTurn @returns {ComparedWord[]} */
function split({ before, text, start }, atTurn) {
  const found = [...text.matchAll(WORD)];
  return found.map(([, space = '', word = ''], index) => ({
    before: index === 0 ? before || atTurn || space : space,
    text: word,
    start,
  }));
}

/**
 * Each difference with the equal words around it.
 * @param {Run[]} runs
 */
function placesOf(runs) {
  /** @type {Place[]} */
  const places = [];
  for (let at = 0; at < runs.length; at += 1) {
    if (runs[at]?.same) continue;
    const end = runs.findIndex(({ same }, index) => same && index > at);
    const changed = runs.slice(at, end < 0 ? runs.length : end);
    const before = (runs[at - 1]?.first ?? []).slice(-CONTEXT);
    const after = (runs[at + changed.length]?.first ?? []).slice(0, CONTEXT);
    const first = changed.flatMap((run) => run.first);
    const second = changed.flatMap((run) => run.second);
    /** @param {ComparedWord[]} words */
    const around = (words) => [textRun(before, false), textRun(words, true), textRun(after, false)];
    places.push({
      start: (before[0] ?? first[0] ?? second[0])?.start ?? null,
      first: around(first).filter(({ text }) => text !== ''),
      second: around(second).filter(({ text }) => text !== ''),
    });
    at += changed.length;
  }
  return places;
}

/** @param {ComparedWord[]} words @param {boolean} changed @returns {TextRun} */
function textRun(words, changed) {
  return { changed, text: words.map(({ before, text }) => before + text).join('') };
}
