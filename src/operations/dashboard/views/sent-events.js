import { may } from '../lib/api/session.js';
import { h, link } from '../lib/elements/dom.js';
import { jobLink, moment, table } from '../lib/elements/panels.js';
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
  const id = `sent-${name}`;
  return h(
    'section',
    { class: 'compact', 'aria-labelledby': id, 'data-key': id },
    h('h2', { id }, `Newest events of ${name}`),
    table({
      caption: `Newest events of ${name}`,
      columns: ['Tried', 'Job', 'Event', 'What became of it', ...(may('repair') ? ['Repair'] : [])],
      rows: events.map((one) => ({
        key: one.event,
        cells: [
          moment(one.at),
          jobLink(one.jobId),
          one.type,
          describeTold(one, clock),
          ...(may('repair')
            ? [
                // Events that ended unsent have their button in the list above.
                one.outcome === 'delivered' &&
                  sendOneButton({
                    ...{ kind: /** @type {const} */ ('notify'), subscriber: name },
                    ...{ events: [one.event], jobs: [one.jobId] },
                  }),
              ]
            : []),
        ],
      })),
    }),
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
  return h(
    'section',
    { class: 'compact', 'aria-labelledby': 'told', 'data-key': 'told' },
    h('h2', { id: 'told' }, 'Subscribers'),
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
