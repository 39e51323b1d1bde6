import { may } from '../lib/api/session.js';
import { button, unseen } from '../lib/elements/button.js';
import { h, link } from '../lib/elements/dom.js';
import { jobLink, moment, section } from '../lib/elements/panels.js';
import { confirmed } from '../lib/elements/run-action.js';
import { table } from '../lib/elements/table.js';
import { to } from '../lib/screen/route.js';
import { count } from '../lib/text/format.js';
import { describeAttempt } from '../vendor/event-attempts.js';
import { startReplay } from './replay-view.js';

/** @import { DeadEvent, DeadEvents, ReplaySelector, SentEvents, Subscriber } from '../lib/api/api-answers.js' */
/** @import { Child } from '../lib/elements/element-types.js' */

/** Events shown of each subscriber. */
export const SHOWN_EVENTS = 20;

/** @param {Subscriber} subscriber @param {SentEvents | null} page */
export function waitingSection({ name }, page) {
  if (page === null || page.events.length === 0) return null;
  const { events, nextCursor } = page;
  const title = `Events that ${name} did not accept yet`;
  return section(
    { id: `waiting-${name}`, title, look: 'compact' },
    table(title, events, ({ event }) => event, [
      { name: 'Last attempt', cell: ({ at }) => moment(at) },
      { name: 'Job', cell: ({ jobId }) => jobLink(jobId) },
      { name: 'Why', cell: (row) => lastAttempt(row.history) ?? describeAttempt(row) },
      { name: 'Attempts', cell: ({ event, attempts, history }) => attemptList(event, attempts, history) },
      may('repair') && {
        name: 'Repair',
        cell: ({ event, jobId }) =>
          sendOneButton({ kind: 'notify', subscriber: name, events: [event], jobs: [jobId] }),
      },
    ]),
    nextCursor !== null && h('p', { class: 'quiet' }, `The ${count(events.length)} tried last are shown.`),
  );
}

/** @param {DeadEvent['history']} history */
function lastAttempt(history) {
  const last = history.at(-1);
  return last && describeAttempt(last);
}

/** @param {Subscriber} subscriber @param {DeadEvents | null} page */
export function deadSection({ name, dead }, page) {
  if (page === null) return null;
  const { deadEvents, nextCursor } = page;
  const all = { kind: /** @type {const} */ ('notify'), subscriber: name, dead: true };
  const title = `Events not sent to ${name}`;
  return section(
    { id: `dead-${name}`, title, look: 'compact' },
    table(title, deadEvents, ({ event }) => event.id, [
      { name: 'Received', cell: ({ event }) => moment(event.time) },
      { name: 'Job', cell: ({ event }) => jobLink(event.data.jobId) },
      { name: 'Event', cell: ({ event }) => event.type.replace(/^transcript-receiver\.|\.v1$/g, '') },
      { name: 'Why', cell: whyDead },
      {
        name: 'Attempts',
        cell: ({ event, attempts, history }) => attemptList(event.id, attempts, history),
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
        sendButton(all, `Send all ${count(dead)} again`, `Send the events of ${name} again?`),
        link(to('replays', { kind: 'notify', subscriber: name, dead: 'true' }), 'Select some of them'),
      ),
  );
}

/**
 * The first and the last attempts.
 * @param {string} id @param {number} attempts @param {DeadEvent['history']} history
 */
function attemptList(id, attempts, history) {
  if (history.length < 2) return count(attempts);
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

const WHY_DEAD = {
  rejected: 'The answer was final.',
  expired: 'Failed for 24 hours.',
  failed: 'Failed in a replay.',
};

/** @param {DeadEvent} dead */
function whyDead({ reason, endedAt, history }) {
  const last = lastAttempt(history);
  return h('div', {}, WHY_DEAD[reason], last && h('p', { class: 'detail' }, `${last}, `, moment(endedAt)));
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
