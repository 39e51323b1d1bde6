import { may } from '../lib/api/session.js';
import { button, unseen } from '../lib/elements/button.js';
import { h, link } from '../lib/elements/dom.js';
import { firstAndLast, jobLink, moment, section } from '../lib/elements/panels.js';
import { confirmed } from '../lib/elements/run-action.js';
import { table } from '../lib/elements/table.js';
import { to } from '../lib/screen/route.js';
import { count } from '../lib/text/format.js';
import { describeAttempt, describeLastAttempt, describeNextAttempt } from '../vendor/event-attempts.js';
import { startReplay } from './replay-view.js';

/** @import { DeadEvent, DeadEvents, ReplaySelector, Subscriber, WaitingEventList } from '../lib/api/api-answers.js' */
/** @import { Child } from '../lib/elements/element-types.js' */

/** Events shown of each subscriber. */
export const SHOWN_EVENTS = 20;

/** @param {Subscriber} subscriber @param {WaitingEventList | null} page */
export function waitingSection(subscriber, page) {
  const { name, pausedUntil, retrying } = subscriber;
  const waiting = page?.waitingEvents ?? [];
  if (waiting.length === 0) return null;
  const title = `Events that ${name} did not accept yet`;
  return section(
    { id: `waiting-${name}`, title, look: 'compact' },
    table(title, waiting.slice(0, SHOWN_EVENTS), ({ id }) => id, [
      { name: 'Received', cell: ({ receivedAt }) => moment(receivedAt) },
      { name: 'Job', cell: ({ jobId }) => jobLink(jobId) },
      { name: 'Next attempt', cell: ({ nextTryAt }) => nextAttempt(nextTryAt, pausedUntil) },
      { name: 'Why', cell: ({ history }) => lastAttempt(history) ?? '–' },
      { name: 'Attempts', cell: ({ id, attempts, history }) => attemptList(id, attempts, history) },
      may('repair') && {
        name: 'Repair',
        cell: ({ id, jobId }) =>
          sendOneButton({ kind: 'notify', subscriber: name, events: [id], jobs: [jobId] }),
      },
    ]),
    retrying > SHOWN_EVENTS &&
      h(
        'p',
        { class: 'quiet' },
        `${count(SHOWN_EVENTS)} of ${count(retrying)} are shown, the next one first.`,
      ),
  );
}

/** @param {string} nextTryAt @param {string | null} pausedUntil */
function nextAttempt(nextTryAt, pausedUntil) {
  const next = describeNextAttempt(nextTryAt, pausedUntil, Date.now());
  return next === nextTryAt ? moment(nextTryAt) : next;
}

/** @param {DeadEvent['history']} history */
function lastAttempt(history) {
  const last = history.at(-1);
  return last && describeAttempt(last);
}

/** @param {Subscriber} subscriber @param {DeadEvents | null} page */
export function deadSection({ name, dead }, page) {
  if (page === null) return null;
  const { causes, deadEvents, nextCursor } = page;
  const all = { kind: /** @type {const} */ ('notify'), subscriber: name, dead: true };
  const title = `Events not sent to ${name}`;
  return section(
    { id: `dead-${name}`, title, look: 'compact' },
    deadCauses(name, page),
    table(title, deadEvents, ({ event }) => event.id, [
      { name: 'Received', cell: ({ event }) => moment(event.time) },
      { name: 'Job', cell: ({ event }) => jobLink(event.data.jobId) },
      { name: 'Event', cell: ({ event }) => event.type.replace(/^transcript-receiver\.|\.v1$/g, '') },
      { name: 'Why', cell: whyDead },
      {
        name: 'Attempts',
        cell: ({ event, attempts, history }) =>
          attempts === 1 ? '1' : attemptList(event.id, attempts, history),
      },
      may('repair') && {
        name: 'Repair',
        cell: ({ event }) => sendOneButton({ ...all, events: [event.id], jobs: [event.data.jobId] }),
      },
    ]),
    nextCursor !== null && h('p', { class: 'quiet' }, `The oldest ${count(deadEvents.length)} are shown.`),
    may('repair') &&
      dead > 1 &&
      h(
        'div',
        { class: 'buttons', 'data-key': 'actions' },
        // One cause has its own button, and a single event that of its row.
        causes.length > 1 &&
          sendButton(all, `Send all ${count(dead)} again`, `Send the events of ${name} again?`),
        link(to('replays', { kind: 'notify', subscriber: name, dead: 'true' }), 'Select some of them'),
      ),
  );
}

/**
 * How the last attempt of each ended, with one act for all of a cause. A single event has that of its row, if the row is shown.
 * @param {string} name @param {DeadEvents} page
 */
function deadCauses(name, { causes, nextCursor }) {
  return h(
    'ul',
    { class: 'rows', 'data-key': 'causes', 'aria-label': `Causes for ${name}` },
    causes.map(({ code, count: events, first, last, answer }) =>
      h(
        'li',
        { class: 'panel', 'data-key': code },
        h('p', { class: 'lead' }, `${count(events, 'event')} · ${describeLastAttempt(code, answer)}`),
        firstAndLast(first, last),
        may('repair') &&
          (events > 1 || nextCursor !== null) &&
          h(
            'div',
            { class: 'buttons' },
            sendButton(
              { kind: 'notify', subscriber: name, dead: true, cause: code },
              events === 1 ? 'Send it again' : `Send these ${count(events)} again`,
              `Send ${count(events, 'event')} of ${name} again?`,
              'plain small',
            ),
          ),
      ),
    ),
  );
}

/**
 * The first and the last attempts.
 * @param {string} id @param {number} attempts @param {DeadEvent['history']} history
 */
function attemptList(id, attempts, history) {
  return h(
    'details',
    { 'data-key': `attempts-${id}` },
    h('summary', {}, count(attempts)),
    h(
      'ol',
      {},
      history.map((attempt) =>
        h('li', { class: 'detail' }, moment(attempt.at), ` ${describeAttempt(attempt)}`),
      ),
    ),
  );
}

/** @param {DeadEvent} dead */
function whyDead({ reason, endedAt, history }) {
  const last = lastAttempt(history);
  return h(
    'div',
    {},
    reason === 'expired' ? 'Failed for 24 hours.' : 'The answer was final.',
    last && h('p', { class: 'detail' }, `${last}, `, moment(endedAt)),
  );
}

/** @param {ReplaySelector & {jobs: string[]}} selector */
function sendOneButton(selector) {
  const label = ['Send again', unseen(` the event of job ${selector.jobs[0]}`)];
  return sendButton(selector, label, 'Send this event again?', 'plain small');
}

/**
 * Starts a replay of events and opens its page.
 * @param {ReplaySelector} selector @param {Child} label @param {string} title @param {string} [look]
 */
function sendButton(selector, label, title, look = 'plain') {
  const send = confirmed(
    () => ({
      title,
      body: 'Each event goes with the same id and a new signature. Those that arrive are removed here.',
      confirm: 'Send again',
    }),
    (agreed) => startReplay({ selector, ...agreed }),
  );
  return button(label, send, look);
}
