import { may } from '../../lib/api/session.js';
import { unseen } from '../../lib/elements/button.js';
import { h, link } from '../../lib/elements/dom.js';
import { announceStatus } from '../../lib/elements/notice.js';
import { shape } from '../../lib/elements/status.js';
import { clock } from '../../lib/text/format.js';
import { describeIssue } from '../../vendor/issues/describe-issue.js';
import { headlineOf, notCovered, textWithoutIssues } from '../../vendor/issues/verdict-words.js';

/** @import { Health, Issue, Topic } from '../../lib/api/api-answers.js' */
/** @import { Tone } from '../../lib/elements/status.js' */

/** @type {Record<Health['verdict']['level'], Tone>} */
export const TONES = { ok: 'good', unknown: 'neutral', warning: 'notice', failing: 'bad' };

/**
 * The receiver's own verdict: one line while all is well, otherwise each issue with what to do.
 * @param {Pick<Health, 'verdict' | 'last24h'>} health
 * @param {string | null} lastSeenAt when the receiver last answered; null while it answers
 */
export function verdictBanner(health, lastSeenAt) {
  const { verdict } = health;
  const tone = lastSeenAt === null ? TONES[verdict.level] : 'neutral';
  const word = lastSeenAt === null ? headlineOf(verdict) : `Last seen ${lastSeenAt}`;
  const unseen = lastSeenAt === null ? notCovered(verdict, clock) : null;
  // Figures change constantly; only a changed verdict is announced to screen readers.
  announceStatus(word);
  return h(
    'section',
    { class: `verdict ${tone}`, 'aria-label': 'Verdict', 'data-key': 'verdict' },
    shape(tone),
    h(
      'div',
      {},
      h('p', { class: 'line' }, h('strong', { class: 'word' }, word), ' ', sentence(health, lastSeenAt)),
      lastSeenAt === null && verdict.issues.length > 0 && h('ul', {}, verdict.issues.map(issueItem)),
      unseen !== null && h('p', { class: 'looked quiet' }, unseen),
    ),
  );
}

/**
 * What follows the headline; null where the issues say it.
 * @param {Pick<Health, 'verdict' | 'last24h'>} health @param {string | null} lastSeenAt
 */
function sentence({ verdict, last24h }, lastSeenAt) {
  const [first] = verdict.issues;
  const news =
    first === undefined
      ? textWithoutIssues(verdict, last24h?.lines ?? null, clock)
      : describeIssue(first, clock).text;
  if (lastSeenAt !== null)
    return `At that time: ${headlineOf(verdict)}. ${news} The current state is unknown.`;
  return first === undefined ? news : null;
}

/** @param {Issue} issue */
function issueItem(issue) {
  const { text, remedy } = describeIssue(issue, clock);
  return h(
    'li',
    { class: 'issue' },
    shape(TONES[issue.level]),
    h(
      'span',
      {},
      text,
      remedy !== null && h('span', { class: 'quiet' }, ` ${remedy}`),
      ' ',
      issueLink(issue, text),
    ),
  );
}

/** Where the page shows what an issue is about; help otherwise. @type {Partial<Record<Topic, string>>} */
const PLACES = {
  callbacks: '#/refusals',
  failures: '#/failures',
  expected: '#/failures',
  quarantine: '#/failures',
  subscribers: '#/subscribers',
};

/** @param {Issue} issue @param {string} text */
function issueLink({ topic }, text) {
  const place = PLACES[topic];
  if (place === undefined) return link(`#/help/${topic}`, 'Help', unseen(`: ${text}`));
  const label = may('repair') && topic === 'failures' ? 'Repair' : 'Show';
  return link(place, label, unseen(`: ${text}`));
}
