import { get, post } from '../lib/api/admin-api.js';
import { may } from '../lib/api/session.js';
import { confirmDialog } from '../lib/elements/confirm-dialog.js';
import { h, link } from '../lib/elements/dom.js';
import { emptyPanel, heading, jobLink, moment, table } from '../lib/elements/panels.js';
import { runAction } from '../lib/elements/run-action.js';
import { status } from '../lib/elements/status.js';
import { to } from '../lib/screen/route.js';
import { count, span } from '../lib/text/format.js';
import { describeIssue } from '../vendor/health/describe-issue.js';
import { TONES } from './overview/verdict-banner.js';

/** @import { DeadEvent, DeadEvents, ReplaySelector, Subscriber } from '../lib/api/api-answers.js' */
/** @import { ButtonEvent } from '../lib/elements/element-types.js' */
/** @import { Screen } from '../lib/screen/screen.js' */
/** @import { Tone } from '../lib/elements/status.js' */

const SHOWN = 20;

/**
 * Who is sent events, how far each is, and what could not be sent.
 * @param {Screen} screen
 */
export function subscribersView(screen) {
  screen.start('Subscribers');
  screen.keepFresh(4000, async (signal) => {
    const { subscribers } = await get('/subscribers', { signal });
    const dead = await Promise.all(
      subscribers.map(({ name, dead }) => (dead === 0 ? null : deadOf(name, signal))),
    );
    screen.render(
      heading('Subscribers'),
      h(
        'p',
        { class: 'prose', 'data-key': 'about' },
        'HTTP addresses that are sent signed events about jobs. Failed requests are retried for 24 hours; 410 ends an event at once. What ended waits here.',
      ),
      subscribers.length === 0
        ? emptyPanel('No subscriber is configured.', h('p', {}, link('#/help/subscribers', 'How to add one')))
        : table({
            caption: 'Subscribers',
            columns: [
              ...['Subscriber', 'State', 'Lag', 'Sent', 'Retrying', 'Last error', 'Sent by'],
              ...(may('repair') ? ['Test'] : []),
            ],
            rows: subscribers.map((one) => ({ key: one.name, cells: cellsOf(one) })),
          }),
      subscribers.map((one, index) => deadSection(one, dead[index] ?? null)).filter((each) => each !== null),
    );
  });
}

/** @param {string} name @param {AbortSignal} signal */
function deadOf(name, signal) {
  return get(`/subscribers/${encodeURIComponent(name)}/dead`, { query: { limit: SHOWN }, signal });
}

/** @param {Subscriber} subscriber @returns {[Tone, string]} */
function subscriberState({ breaker, sender, issues: [issue] }) {
  if (breaker === 'open') return ['notice', 'Not reachable'];
  if (issue !== undefined) return [TONES[issue.level], describeIssue(issue).label];
  return sender === null ? ['neutral', 'No sender'] : ['good', 'Up to date'];
}

/** @param {Subscriber} subscriber */
function cellsOf(subscriber) {
  const { name, url, events, sources, lagSeconds, sent, lastSentAt, retrying, openSince, sender } =
    subscriber;
  const [tone, word] = subscriberState(subscriber);
  const asksFor = `${events.join(', ')}${sources.length > 0 ? ` of ${sources.join(', ')}` : ''}`;
  return [
    h(
      'div',
      {},
      h('strong', {}, name),
      h('p', { class: 'detail' }, url),
      h('p', { class: 'detail' }, asksFor),
    ),
    h('div', {}, status(tone, word), openSince && h('p', { class: 'detail' }, 'since ', moment(openSince))),
    lagSeconds === 0 ? 'none' : span(lagSeconds * 1000),
    h('div', {}, count(sent), h('p', { class: 'detail' }, 'last ', moment(lastSentAt))),
    count(retrying),
    lastErrorOf(subscriber),
    sender ?? '–',
    ...(may('repair') ? [testButton(name)] : []),
  ];
}

/** @param {Subscriber} subscriber */
function lastErrorOf({ lastError }) {
  if (lastError === null) return 'none';
  return h('div', {}, attemptInWords(lastError), h('p', { class: 'detail' }, moment(lastError.at)));
}

/** @param {DeadEvent['history'][number]} attempt */
function attemptInWords({ status: answered, error, answer }) {
  if (answered === null) return `No answer: ${error ?? 'unknown'}`;
  return answer === undefined ? `Answered ${answered}` : `Answered ${answered}: “${answer}”`;
}

/**
 * Sends a test event. One that is accepted ends a pause of the subscriber.
 * @param {string} name
 */
function testButton(name) {
  const onclick = (/** @type {ButtonEvent} */ event) =>
    runAction(event.currentTarget, async () => {
      const attempt = await post(`/subscribers/${encodeURIComponent(name)}/test`);
      return {
        text: `Test event of ${name}: ${attemptInWords(attempt)}.`,
        tone: attempt.delivered ? 'good' : 'bad',
      };
    });
  return h(
    'button',
    { type: 'button', class: 'plain small', onclick },
    'Send a test event',
    h('span', { class: 'unseen' }, ` to ${name}`),
  );
}

/** @param {Subscriber} subscriber @param {DeadEvents | null} page */
function deadSection({ name, dead }, page) {
  if (page === null) return null;
  const { deadEvents, nextCursor } = page;
  const id = `dead-${name}`;
  const all = { kind: /** @type {const} */ ('notify'), subscriber: name, dead: true };
  return h(
    'section',
    { 'aria-labelledby': id, 'data-key': id },
    h('h2', { id }, `Events not sent to ${name}`),
    table({
      caption: `Events not sent to ${name}`,
      columns: ['Received', 'Job', 'Event', 'Why', 'Attempts', ...(may('repair') ? ['Repair'] : [])],
      rows: deadEvents.map((one) => ({ key: one.event.id, cells: deadCells(name, one) })),
    }),
    nextCursor !== null && h('p', { class: 'quiet' }, `The newest ${count(deadEvents.length)} are shown.`),
    may('repair') &&
      h(
        'div',
        { class: 'buttons', 'data-key': 'actions' },
        sendButton(
          all,
          `Send all ${dead < 1000 ? count(dead) : ''} again`,
          `Send the events of ${name} again?`,
        ),
        link(to('replays', { kind: 'notify', subscriber: name, dead: 'true' }), 'Select some of them'),
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
        h('li', { class: 'detail' }, moment(attempt.at), ` ${attemptInWords(attempt)}`),
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
      last && h('p', { class: 'detail' }, `${attemptInWords(last)}, `, moment(endedAt)),
    ),
    attempts === 1 ? '1' : attemptList(event.id, attempts, history),
    ...(may('repair')
      ? [
          sendButton(
            { kind: 'notify', subscriber: name, dead: true, jobs: [jobId] },
            ['Send again', h('span', { class: 'unseen' }, ` the events of job ${jobId}`)],
            'Send the events of this job again?',
            'small',
          ),
        ]
      : []),
  ];
}

/**
 * Starts a replay of dead events and opens its page.
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
