import { h } from '../../lib/elements/dom.js';
import { section } from '../../lib/elements/panels.js';
import { clock } from '../../lib/text/format.js';
import { describeDelivery } from '../../vendor/event-attempts.js';

/** @import { Job } from '../../lib/api/api-answers.js' */

/**
 * What each subscriber was sent about a job, a line for each event.
 * @param {Pick<Job, 'events'>} job
 */
export function eventsSection({ events }) {
  if (events.length === 0) return null;
  return section(
    { id: 'events', title: 'Subscribers', look: 'compact' },
    h(
      'ul',
      { class: 'rows' },
      events.map((one) =>
        h(
          'li',
          { 'data-key': `${one.subscriber} ${one.event}` },
          h('strong', {}, one.subscriber),
          `: ${describeDelivery(one, clock)} (${one.type})`,
        ),
      ),
    ),
  );
}
