import { h } from '../../lib/elements/dom.js';
import { fact, moment, section } from '../../lib/elements/panels.js';
import { status } from '../../lib/elements/status.js';
import { position } from '../../lib/text/format.js';
import { NO_SERVICE_RECORD } from '../../vendor/job-state.js';

/** @import { Job, ServiceRecord } from '../../lib/api/api-answers.js' */

/**
 * The speech service's own record of the job.
 * @param {Job} job
 */
export function serviceSection({ service, serviceAnswer }) {
  return section(
    { id: 'service', title: 'The service’s own record' },
    serviceAnswer !== 'found' && h('p', { class: 'quiet' }, NO_SERVICE_RECORD[serviceAnswer]),
    service !== null && [facts(service), errors(service.record), whole(service.record)],
  );
}

/** @param {ServiceRecord} service */
function facts({ region, record }) {
  const { status: state, created_at: created, data_name: name, duration } = record;
  return h(
    'dl',
    { class: 'facts' },
    fact('Region', region),
    fact('Status', String(state ?? 'not reported')),
    created !== undefined && fact('Created', moment(String(created))),
    name !== undefined && fact('Media', String(name)),
    typeof duration === 'number' && fact('Length', position(duration)),
  );
}

/** @param {ServiceRecord['record']} record */
function errors({ errors: list }) {
  if (!Array.isArray(list) || list.length === 0)
    return h('p', { class: 'quiet' }, 'The service reports no errors.');
  return h(
    'div',
    {},
    h('p', {}, status('notice', list.length === 1 ? 'One error reported' : `${list.length} errors reported`)),
    h(
      'ol',
      { class: 'rows' },
      list
        .slice(0, 50)
        .map((error) =>
          h(
            'li',
            {},
            moment(String(error?.timestamp ?? '')),
            h('p', { class: 'detail' }, String(error?.message ?? '')),
          ),
        ),
    ),
  );
}

/** @param {ServiceRecord['record']} record */
function whole(record) {
  return h(
    'details',
    {},
    h('summary', {}, 'Complete record'),
    h('pre', { class: 'raw', tabindex: '0' }, JSON.stringify(record, null, 2)),
  );
}
