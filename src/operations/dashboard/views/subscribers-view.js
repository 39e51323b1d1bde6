import { get, post, serverNow } from '../lib/api/admin-api.js';
import { may } from '../lib/api/session.js';
import { button, unseen } from '../lib/elements/button.js';
import { h, link } from '../lib/elements/dom.js';
import { emptyPanel, heading, indexNote, moment } from '../lib/elements/panels.js';
import { runAction } from '../lib/elements/run-action.js';
import { status } from '../lib/elements/status.js';
import { figure, table } from '../lib/elements/table.js';
import { count, span, withClock } from '../lib/text/format.js';
import { describeAttempt, describePause, describeUnsent } from '../vendor/event-attempts.js';
import { hasAllUnsent } from '../vendor/index/index-extent.js';
import { describeIssue } from '../vendor/issues/describe-issue.js';
import { TONES } from './overview/verdict-banner.js';
import { deadSection, SHOWN_EVENTS, waitingSection } from './unsent-events.js';

/** @import { Subscriber } from '../lib/api/api-answers.js' */
/** @import { ButtonEvent, Child } from '../lib/elements/element-types.js' */
/** @import { Refresh, Screen } from '../lib/screen/screen.js' */
/** @import { Tone } from '../lib/elements/status.js' */

/**
 * The subscribers, the progress of each, and the events that could not be sent.
 * @param {Screen} screen
 */
export function subscribersView(screen) {
  screen.start('Subscribers');
  const again = screen.keepFresh(4000, async (signal) => {
    const { subscribers, index } = await get('/subscribers', { signal });
    const isAll = hasAllUnsent(index, serverNow());
    const [waiting, dead] = await Promise.all([
      Promise.all(subscribers.map(({ name, retrying }) => (retrying === 0 ? null : waitingOf(name, signal)))),
      Promise.all(subscribers.map(({ name, dead }) => (dead === 0 ? null : deadOf(name, signal)))),
    ]);
    screen.render(
      heading('Subscribers'),
      h(
        'p',
        { class: 'prose', 'data-key': 'about' },
        'HTTP addresses that are sent signed events about jobs. Failed requests are retried for 24 hours; 410 ends an event at once. What was not sent waits here.',
      ),
      subscribers.length === 0
        ? emptyPanel('No subscriber is configured.', h('p', {}, link('#/help/subscribers', 'How to add one')))
        : table('Subscribers', subscribers, ({ name }) => name, [
            { name: 'Subscriber', cell: nameOf },
            { name: 'State', cell: (one) => stateOf(one, isAll) },
            { name: 'Lag', cell: unlessDamaged((one) => lagOf(one, isAll)) },
            { name: 'Sent', cell: unlessDamaged(sentOf) },
            { name: 'Waiting', cell: unlessDamaged((one) => describeUnsent(one, isAll)) },
            { name: 'Last error', cell: unlessDamaged(lastErrorOf) },
            may('repair') && { name: 'Test', cell: ({ name }) => testButton(name, () => again()) },
          ]),
      subscribers.map((one, at) => waitingSection(one, waiting[at] ?? null)).filter((each) => each !== null),
      subscribers.map((one, at) => deadSection(one, dead[at] ?? null)).filter((each) => each !== null),
      indexNote(index),
    );
  });
}

/** @param {string} name @param {AbortSignal} signal */
function waitingOf(name, signal) {
  const query = { outcome: 'waiting', limit: SHOWN_EVENTS };
  return get(`/subscribers/${encodeURIComponent(name)}/events`, { query, signal });
}

/** @param {string} name @param {AbortSignal} signal */
function deadOf(name, signal) {
  return get(`/subscribers/${encodeURIComponent(name)}/dead`, { query: { limit: SHOWN_EVENTS }, signal });
}

/** @param {(subscriber: Subscriber) => Child} cell */
function unlessDamaged(cell) {
  return (/** @type {Subscriber} */ subscriber) => (subscriber.stateDamaged ? 'unknown' : cell(subscriber));
}

/** @param {Subscriber} subscriber */
function nameOf({ name, url, events, sources }) {
  const asksFor = `${events.join(', ')}${sources.length > 0 ? ` of ${sources.join(', ')}` : ''}`;
  return h(
    'div',
    {},
    h('strong', {}, name),
    h('p', { class: 'detail' }, url),
    h('p', { class: 'detail' }, asksFor),
  );
}

/** @param {Subscriber} subscriber @param {boolean} isAll whether the index has what may wait */
function stateOf(subscriber, isAll) {
  const pause = describePause(subscriber, Date.now());
  const hint = may('repair') && '. A test event that is accepted ends it';
  return h(
    'div',
    {},
    status(...toneAndWord(subscriber, isAll)),
    pause && h('p', { class: 'detail' }, withClock(pause), hint),
  );
}

/** @param {Subscriber} subscriber @param {boolean} isAll @returns {[Tone, string]} */
function toneAndWord({ sender, retrying, untried, issues: [issue] }, isAll) {
  if (issue !== undefined) return [TONES[issue.level], describeIssue(issue).label];
  if (sender === null) return ['neutral', 'No sender'];
  if (retrying + untried > 0) return ['busy', 'Sending'];
  return isAll ? ['good', 'Up to date'] : ['neutral', 'Unknown'];
}

/** @param {Subscriber} subscriber @param {boolean} isAll */
function lagOf({ lagSeconds }, isAll) {
  if (lagSeconds === 0) return isAll ? 'none' : 'unknown';
  return figure(span(lagSeconds * 1000));
}

/** @param {Subscriber} subscriber */
function sentOf({ sent, lastSentAt, sender }) {
  return h(
    'div',
    {},
    count(sent),
    lastSentAt !== null && h('p', { class: 'detail' }, 'last ', moment(lastSentAt)),
    sender !== null && h('p', { class: 'detail' }, `by ${sender}`),
  );
}

/** @param {Subscriber} subscriber */
function lastErrorOf({ lastError }) {
  if (lastError === null) return '–';
  return h('div', {}, describeAttempt(lastError), h('p', { class: 'detail' }, moment(lastError.at)));
}

/**
 * Sends a test event. One that is accepted ends a pause of the subscriber.
 * @param {string} name @param {Refresh} again
 */
function testButton(name, again) {
  const onclick = async (/** @type {ButtonEvent} */ event) => {
    await runAction(event.currentTarget, async () => {
      const attempt = await post(`/subscribers/${encodeURIComponent(name)}/test`);
      return {
        text: `Test event of ${name}: ${describeAttempt(attempt)}.`,
        tone: attempt.delivered ? 'good' : 'bad',
      };
    });
    await again();
  };
  return button(['Send a test event', unseen(` to ${name}`)], onclick, 'plain small');
}
