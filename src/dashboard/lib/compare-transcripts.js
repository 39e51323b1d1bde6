import { wordDiff } from './word-diff.js';

/** Words a transcript may have to be compared in the page: about ten hours of speech. */
const MAX_WORDS = 100_000;
/** Words that may differ; beyond them marks help nobody, and the search for them takes seconds. */
const MAX_DIFFERENCES = 2000;
/** Equal words shown on each side of a difference. */
const CONTEXT = 12;

/**
 * Compares two transcripts as they are read. `{places: [{start, equalBefore, first, second}], equalAfter}`, where
 * `first` and `second` are runs `{changed, text}`; or `{note}` where there is nothing to show, in a sentence.
 */
export function compareTranscripts(one, other) {
  const first = wordsOf(one);
  const second = wordsOf(other);
  if (Math.max(first.length, second.length) > MAX_WORDS)
    return {
      note: `A transcript of more than ${MAX_WORDS.toLocaleString('en')} words is not compared here. Download both to compare them.`,
    };
  const textOf = ({ text }) => text;
  const runs = wordDiff(first.map(textOf), second.map(textOf), MAX_DIFFERENCES);
  if (runs === null)
    return {
      note: `The versions differ in more than ${MAX_DIFFERENCES.toLocaleString('en')} words: they are different transcripts. Read each below, or download both.`,
    };
  if (runs.every(({ kind }) => kind === 'same'))
    return {
      note: 'Both versions have the same words. They differ in times, confidence, metadata or spaces only.',
    };
  return placesOf(runs, first, second);
}

/** Words one by one, the speaker before each turn; scripts without spaces by their signs. */
function wordsOf({ turns }) {
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

function split({ before, text, start }, atTurn) {
  const found = [...text.matchAll(WORD)];
  return found.map(([, space, word], index) => ({
    before: index === 0 ? before || atTurn || space : space,
    text: word,
    start,
  }));
}

/** Differences that are near each other are one place, with equal words around it. */
function placesOf(runs, first, second) {
  const places = [];
  let place = null;
  let equal = 0;
  const add = (words, side, from, length, changed) => {
    if (length > 0) place[side].push({ changed, text: joined(words, from, length) });
  };
  const addEqual = (run, from, length) => {
    add(first, 'first', run.first + from, length, false);
    add(second, 'second', run.second + from, length, false);
  };
  for (const [index, run] of runs.entries()) {
    if (run.kind !== 'same') {
      place ??= { start: startOf(first, run.first), equalBefore: equal, first: [], second: [] };
      if (run.kind === 'first') add(first, 'first', run.first, run.length, true);
      else add(second, 'second', run.second, run.length, true);
      continue;
    }
    const isLast = index === runs.length - 1;
    if (place !== null && !isLast && run.length <= 2 * CONTEXT) {
      addEqual(run, 0, run.length);
      continue;
    }
    const after = place === null ? 0 : Math.min(CONTEXT, run.length);
    if (place !== null) {
      addEqual(run, 0, after);
      places.push(place);
      place = null;
    }
    const before = isLast ? 0 : Math.min(CONTEXT, run.length - after);
    equal = run.length - after - before;
    if (isLast) continue;
    const from = run.length - before;
    place = { start: startOf(first, run.first + from), equalBefore: equal, first: [], second: [] };
    addEqual(run, from, before);
    equal = 0;
  }
  if (place !== null) places.push(place);
  return { places, equalAfter: runs.at(-1).kind === 'same' ? equal : 0 };
}

function startOf(words, index) {
  return (words[index] ?? words.at(-1))?.start ?? null;
}

function joined(words, from, length) {
  return words
    .slice(from, from + length)
    .map(({ before, text }) => before + text)
    .join('');
}
