import { may } from '../lib/api/session.js';
import { h, link } from '../lib/elements/dom.js';
import { jobLink, moment, section } from '../lib/elements/panels.js';
import { table } from '../lib/elements/table.js';
import { to } from '../lib/screen/route.js';
import { clock } from '../lib/text/format.js';
import { describeTold } from '../vendor/event-attempts.js';
import { sendOneButton } from './unsent-events.js';

/** @import { Job, SentEvents, Subscriber } from '../lib/api/api-answers.js' */

/**
 * The newest events of a subscriber that do not wait, and what became of each.
 * @param {Subscriber} subscriber @param {SentEvents} page
 */
export function sentSection({ name }, { events }) {
  if (events.length === 0) return null;
  const title = `Newest events of ${name}`;
  return section(
    { id: `sent-${name}`, title, look: 'compact' },
    table(title, events, ({ event }) => event, [
      { name: 'Tried', cell: ({ at }) => moment(at) },
      { name: 'Job', cell: ({ jobId }) => jobLink(jobId) },
      { name: 'Event', cell: ({ type }) => type },
      { name: 'What became of it', cell: (event) => describeTold(event, clock) },
      // Events that ended unsent have their button in the list above.
      may('repair') && {
        name: 'Repair',
        cell: ({ outcome, event, jobId }) =>
          outcome === 'delivered' &&
          sendOneButton({ kind: 'notify', subscriber: name, events: [event], jobs: [jobId] }),
      },
    ]),
    may('repair') &&
      h(
        'div',
        { class: 'buttons', 'data-key': 'actions' },
        link(to('replays', { kind: 'notify', subscriber: name }), 'Send those of a time again'),
      ),
  );
}

/**
 * What each subscriber was sent about a job, a line for each event.
 * @param {Pick<Job, 'events'>} job
 */
export function toldSection({ events }) {
  if (events.length === 0) return null;
  return section(
    { id: 'told', title: 'Subscribers', look: 'compact' },
    h(
      'ul',
      { class: 'rows' },
      events.map((one) =>
        h(
          'li',
          { 'data-key': `${one.subscriber} ${one.event}` },
          h('strong', {}, one.subscriber),
          `: ${describeTold(one, clock)} (${one.type})`,
        ),
      ),
    ),
  );
}
