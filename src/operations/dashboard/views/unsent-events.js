import { post } from '../lib/api/admin-api.js';
import { may } from '../lib/api/session.js';
import { confirmDialog } from '../lib/elements/confirm-dialog.js';
import { h, link } from '../lib/elements/dom.js';
import { firstAndLast, jobLink, moment, table } from '../lib/elements/panels.js';
import { runAction } from '../lib/elements/run-action.js';
import { to } from '../lib/screen/route.js';
import { count } from '../lib/text/format.js';
import { describeAttempt, describeLastAttempt, describeNextAttempt } from '../vendor/event-attempts.js';

/** @import { DeadEvent, DeadEvents, ReplaySelector, Subscriber, WaitingEvent, WaitingEventList } from '../lib/api/api-answers.js' */

/** Events shown of each subscriber. */
export const SHOWN_EVENTS = 20;

/** @param {Subscriber} subscriber @param {WaitingEventList | null} page */
export function waitingSection(subscriber, page) {
  const { name } = subscriber;
  const waiting = page?.waitingEvents ?? [];
  if (waiting.length === 0) return null;
  const id = `waiting-${name}`;
  return h(
    'section',
    { class: 'compact', 'aria-labelledby': id, 'data-key': id },
    h('h2', { id }, `Events that ${name} did not accept yet`),
    table({
      caption: `Events that ${name} did not accept yet`,
      columns: ['Received', 'Job', 'Next attempt', 'Why', 'Attempts', ...(may('repair') ? ['Repair'] : [])],
      rows: waiting
        .slice(0, SHOWN_EVENTS)
        .map((one) => ({ key: one.id, cells: waitingCells(subscriber, one) })),
    }),
    waiting.length > SHOWN_EVENTS &&
      h(
        'p',
        { class: 'quiet' },
        `${count(SHOWN_EVENTS)} of ${count(waiting.length)} are shown, the next one first.`,
      ),
  );
}

/** @param {Subscriber} subscriber @param {WaitingEvent} waiting */
function waitingCells({ name, pausedUntil }, { id, jobId, receivedAt, nextTryAt, attempts, history }) {
  const last = history.at(-1);
  const next = describeNextAttempt(nextTryAt, pausedUntil, Date.now());
  return [
    moment(receivedAt),
    jobLink(jobId),
    next === nextTryAt ? moment(nextTryAt) : next,
    last ? describeAttempt(last) : '–',
    attemptList(id, attempts, history),
    ...(may('repair')
      ? [sendOneButton({ kind: 'notify', subscriber: name, events: [id], jobs: [jobId] })]
      : []),
  ];
}

/** @param {Subscriber} subscriber @param {DeadEvents | null} page */
export function deadSection({ name, dead }, page) {
  if (page === null) return null;
  const { causes, deadEvents, nextCursor } = page;
  const id = `dead-${name}`;
  const all = { kind: /** @type {const} */ ('notify'), subscriber: name, dead: true };
  return h(
    'section',
    { class: 'compact', 'aria-labelledby': id, 'data-key': id },
    h('h2', { id }, `Events not sent to ${name}`),
    deadCauses(name, page),
    table({
      caption: `Events not sent to ${name}`,
      columns: ['Received', 'Job', 'Event', 'Why', 'Attempts', ...(may('repair') ? ['Repair'] : [])],
      rows: deadEvents.map((one) => ({ key: one.event.id, cells: deadCells(name, one) })),
    }),
    nextCursor !== null && h('p', { class: 'quiet' }, `The newest ${count(deadEvents.length)} are shown.`),
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
              'small',
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

/** @param {string} name @param {DeadEvent} dead */
function deadCells(name, { event, reason, endedAt, attempts, history }) {
  const { jobId } = event.data;
  const last = history.at(-1);
  const why = reason === 'expired' ? 'Failed for 24 hours' : 'The answer was final';
  return [
    moment(event.time),
    jobLink(jobId),
    event.type.replace(/^transcript-receiver\.|\.v1$/g, ''),
    h(
      'div',
      {},
      `${why}.`,
      last && h('p', { class: 'detail' }, `${describeAttempt(last)}, `, moment(endedAt)),
    ),
    attempts === 1 ? '1' : attemptList(event.id, attempts, history),
    ...(may('repair')
      ? [
          sendOneButton({
            kind: 'notify',
            subscriber: name,
            dead: true,
            events: [event.id],
            jobs: [jobId],
          }),
        ]
      : []),
  ];
}

/** @param {ReplaySelector & {jobs: string[]}} selector */
export function sendOneButton(selector) {
  const label = ['Send again', h('span', { class: 'unseen' }, ` the event of job ${selector.jobs[0]}`)];
  return sendButton(selector, label, 'Send this event again?', 'small');
}

/**
 * Starts a replay of events and opens its page.
 * @param {ReplaySelector} selector @param {import('../lib/elements/element-types.js').Child} label
 * @param {string} title @param {string} [size]
 */
function sendButton(selector, label, title, size = '') {
  /** @param {HTMLButtonElement} button */
  const send = async (button) => {
    const agreed = await confirmDialog({
      title,
      body: h(
        'p',
        {},
        'Each event goes with the same id and a new signature. Those that arrive are removed here.',
      ),
      confirm: 'Send again',
    });
    if (agreed === null) return;
    await runAction(button, async () => {
      const started = await post('/replays', { selector, ...agreed });
      if ('replayId' in started) location.hash = `#/replays/${encodeURIComponent(started.replayId)}`;
      return null;
    });
  };
  return h(
    'button',
    { type: 'button', class: `plain ${size}`.trim(), onclick: (event) => send(event.currentTarget) },
    label,
  );
}
