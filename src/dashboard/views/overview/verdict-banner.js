import { h } from '../../lib/elements/dom.js';
import { sayOnce } from '../../lib/elements/notice.js';
import { shape } from '../../lib/elements/status.js';
import { clock } from '../../lib/text/format.js';

/** @import { Verdict } from '../../lib/api/api-answers.js' */
/** @import { Tone } from '../../lib/elements/status.js' */

/**
 * @typedef {{text: string, href: string}} FurtherTrouble
 * @typedef {object} Banner
 * @property {Tone} tone
 * @property {string} word
 * @property {string} sentence
 * @property {string} [href] where the page says what to do
 * @property {FurtherTrouble[]} more
 */

/** The receiver's own verdict: the page adds nothing to it and takes nothing away. */

/**
 * @param {Verdict} verdict
 * @param {string | null} lastSeenAt when the receiver last answered; null while it answers
 */
export function verdictBanner(verdict, lastSeenAt) {
  const { tone, word, sentence, href, more } =
    lastSeenAt === null ? describeVerdict(verdict) : describeLastSeen(verdict, lastSeenAt);
  // Figures change all the time: only a change of the verdict is worth interrupting for.
  sayOnce(word);
  return h(
    'section',
    { class: `verdict ${tone}`, 'aria-label': 'Verdict', 'data-key': 'verdict' },
    shape(tone),
    h(
      'div',
      {},
      h('p', { class: 'word' }, word),
      h('p', { class: 'sentence' }, sentence, wayOut(href, sentence)),
      more.length > 0 &&
        h(
          'ul',
          {},
          more.map(({ text, href: way }) => h('li', {}, text, wayOut(way, text))),
        ),
      h('p', { class: 'looked quiet' }, scopeInWords(verdict)),
    ),
  );
}

/** @param {string | undefined} href @param {string} about */
function wayOut(href, about) {
  if (href === undefined) return null;
  const text = href === '#/failures' ? 'Repair' : 'What to do';
  return [' ', h('a', { href }, text, h('span', { class: 'unseen' }, `: ${about}`))];
}

/**
 * Over which time the verdict looked, and at what it did not.
 * @param {Verdict} verdict
 */
function scopeInWords({ since, unseen }) {
  const looked =
    since === null ? 'No delivery was checked yet' : `Every delivery since ${clock(since)} was checked`;
  return unseen.length === 0 ? `${looked}.` : `${looked}. Not checked: ${unseen.join('; ')}.`;
}

/** @type {Record<Verdict['level'], Tone>} */
const TONES = { ok: 'good', warning: 'notice', failing: 'bad' };

/**
 * @param {Verdict} verdict @returns {Banner}
 */
export function describeVerdict({ level, headline, sentence, troubles }) {
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
export function describeLastSeen({ headline, sentence }, at) {
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
