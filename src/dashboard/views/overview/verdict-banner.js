import { may } from '../../lib/api/session.js';
import { h } from '../../lib/elements/dom.js';
import { announceStatus } from '../../lib/elements/notice.js';
import { shape } from '../../lib/elements/status.js';
import { clock, withClock } from '../../lib/text/format.js';

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

/** Shows the receiver's own verdict unchanged. */

/**
 * @param {Verdict} verdict
 * @param {string | null} lastSeenAt when the receiver last answered; null while it answers
 */
export function verdictBanner(verdict, lastSeenAt) {
  const { tone, word, sentence, href, more } =
    lastSeenAt === null ? describeVerdict(verdict) : describeLastSeen(verdict, lastSeenAt);
  // Figures change constantly; only a changed verdict is announced to screen readers.
  announceStatus(word);
  return h(
    'section',
    { class: `verdict ${tone}`, 'aria-label': 'Verdict', 'data-key': 'verdict' },
    shape(tone),
    h(
      'div',
      {},
      h('p', { class: 'word' }, word),
      h('p', { class: 'sentence' }, sentence, actionLink(href, sentence)),
      more.length > 0 &&
        h(
          'ul',
          {},
          more.map(({ text, href: way }) => h('li', {}, text, actionLink(way, text))),
        ),
      h('p', { class: 'looked quiet' }, scopeInWords(verdict)),
    ),
  );
}

/** @param {string | undefined} href @param {string} about */
function actionLink(href, about) {
  if (href === undefined) return null;
  const failures = may('repair') ? 'Repair' : 'Show';
  const text = href === '#/failures' ? failures : 'What to do';
  return [' ', h('a', { href }, text, h('span', { class: 'unseen' }, `: ${about}`))];
}

/**
 * The time range that the verdict covers, and what it does not cover.
 * @param {Verdict} verdict
 */
function scopeInWords({ since, unseen }) {
  const looked =
    since === null ? 'No delivery was checked yet' : `Every delivery since ${clock(since)} was checked`;
  return unseen.length === 0 ? `${looked}.` : `${looked}. Not checked: ${withClock(unseen.join('; '))}.`;
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
 * The verdict of `at`, for when the receiver does not respond: it may no longer be true.
 * @param {Verdict} verdict @param {string} at @returns {Banner}
 */
export function describeLastSeen({ headline, sentence }, at) {
  return {
    tone: 'neutral',
    word: `Last seen ${at}`,
    sentence: `At that time: ${headline}. ${withClock(sentence)} The current state is unknown.`,
    href: undefined,
    more: [],
  };
}

/** @param {string} topic */
function placeOf(topic) {
  return topic === 'failures' ? '#/failures' : `#/help/${topic}`;
}
