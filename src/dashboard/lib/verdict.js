import { clock } from './format.js';

/** @import { Verdict } from '../api-answers.js' */
/** @import { Tone } from './status.js' */

/**
 * @typedef {{text: string, href: string}} FurtherTrouble
 * @typedef {object} Banner
 * @property {Tone} tone
 * @property {string} word
 * @property {string} sentence
 * @property {string} [href] where the page says what to do
 * @property {FurtherTrouble[]} more
 */

/** The receiver's own verdict, made ready to be shown: the page adds nothing to it and takes nothing away. */

/** @type {Record<Verdict['level'], Tone>} */
const TONES = { ok: 'good', warning: 'notice', failing: 'bad' };

/**
 * @param {Verdict} verdict @returns {Banner}
 */
export function verdictShown({ level, headline, sentence, troubles }) {
  const [first, ...more] = troubles.map(({ text, topic }) => ({
    text: withClock(text),
    href: placeOf(topic),
  }));
  return {
    tone: TONES[level],
    word: headline,
    sentence: withClock(sentence),
    href: first?.href,
    more,
  };
}

/**
 * Shown when the receiver cannot be asked any more: what was true at `at` may not be true now.
 * @param {Verdict} verdict @param {string} at @returns {Banner}
 */
export function lastSeen({ headline, sentence }, at) {
  return {
    tone: 'neutral',
    word: `Last seen ${at}`,
    sentence: `At that time: ${headline}. ${withClock(sentence)} The present state is not known.`,
    href: undefined,
    more: [],
  };
}

/**
 * Instants as every other time on the page.
 * @param {string} text
 */
function withClock(text) {
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (instant) => clock(instant));
}

/** @param {string} topic */
function placeOf(topic) {
  return topic === 'failures' ? '#/failures' : `#/help/${topic}`;
}

/** @param {Record<string, number>} failing */
export function failingJobs(failing) {
  return Object.values(failing).reduce((sum, number) => sum + number, 0);
}
