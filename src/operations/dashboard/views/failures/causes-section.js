import { post } from '../../lib/api/admin-api.js';
import { canRefetch, may } from '../../lib/api/session.js';
import { button } from '../../lib/elements/button.js';
import { h, link } from '../../lib/elements/dom.js';
import { firstAndLast, jobList, outcomeBadge } from '../../lib/elements/panels.js';
import { confirmed } from '../../lib/elements/run-action.js';
import { to } from '../../lib/screen/route.js';
import { capital, count } from '../../lib/text/format.js';
import { causeInWords, isFetchable } from '../../vendor/failure-causes.js';
import { startReplay } from '../replay-view.js';

/** @import { Failures } from '../../lib/api/api-answers.js' */
/** @import { FilterValues } from '../../lib/elements/filter-form.js' */
/** @import { Refresh } from '../../lib/screen/screen.js' */

/** @typedef {Failures['causes'][number]} Cause */

/** Causes that are shown; the filters lead to the others. */
const SHOWN = 20;
/** More of them are one line each until they are opened. */
const OPEN = 3;

/**
 * What failing jobs have in common, with one act for all of a cause.
 * @param {readonly Cause[]} causes @param {FilterValues} values @param {Refresh} again
 */
export function causesSection(causes, values, again) {
  const shown = causes.filter(({ code }) => !values.cause || values.cause === code).slice(0, SHOWN);
  return h(
    'ul',
    { class: 'rows', 'data-key': 'causes', 'aria-label': 'Causes' },
    shown.map((cause) => {
      const { code, source, outcome, count: jobs } = cause;
      const open = shown.length <= OPEN;
      return h(
        'li',
        // With another filter they open or close again.
        { 'data-key': `${code} ${source} ${outcome} ${values.cause}` },
        h(
          'details',
          { class: 'panel', open },
          h(
            'summary',
            { class: 'lead' },
            `${count(jobs, 'job')} · ${capital(causeInWords(code))}`,
            source !== null && h('span', { class: 'quiet' }, ` · ${source}`),
            ' ',
            outcomeBadge(outcome),
          ),
          causeDetails(cause, values, again),
        ),
      );
    }),
  );
}

/** @param {Cause} cause @param {FilterValues} values @param {Refresh} again */
function causeDetails(cause, values, again) {
  const { code, source, count: jobs, first, last, remedy } = cause;
  const all = jobs === 1 ? '1 job' : `all ${count(jobs, 'job')}`;
  return [
    firstAndLast(first, last),
    remedy !== null && h('p', {}, remedy),
    h(
      'div',
      { class: 'buttons' },
      may('repair') && [
        isFetchable(cause) && canRefetch() && button(`Refetch ${all}…`, refetchAll(cause), 'small'),
        button(`Acknowledge ${all}…`, acknowledgeAll(cause, again), 'plain small'),
      ],
      values.cause !== code && link(to('failures', { ...values, cause: code, source }), 'Show only these'),
    ),
  ];
}

/** @param {Cause} cause */
function refetchAll({ code, source, outcome }) {
  const kind = /** @type {const} */ ('refetch');
  const selector = { kind, cause: code, source: source ?? undefined, outcome };
  return confirmed(
    async () => {
      const found = await post('/replays', { selector, dryRun: true });
      if (!('count' in found)) return null;
      return {
        title: `Refetch ${count(found.count, 'job')}?`,
        body: preview(found, 'Their missing results are fetched from the service. What is stored stays.'),
        confirm: 'Refetch all',
        reasonRequired: true,
      };
    },
    (agreed) => startReplay({ selector, ...agreed }),
  );
}

/** @param {Cause} cause @param {Refresh} again */
function acknowledgeAll({ code, source }, again) {
  const order = { cause: code, source: source ?? undefined };
  return confirmed(
    async () => {
      const found = await post('/failures/acknowledge', { ...order, dryRun: true });
      return {
        title: `Acknowledge ${count(found.count, 'job')}?`,
        body: preview(
          found,
          'They are no longer listed as failing unless they fail again. Nothing is deleted or fetched.',
        ),
        confirm: 'Acknowledge all',
        reasonRequired: true,
      };
    },
    async ({ reason }) => {
      const { acknowledged } = await post('/failures/acknowledge', { ...order, reason });
      return `${count(acknowledged, 'job was', 'jobs were')} acknowledged.`;
    },
    again,
  );
}

/** @param {{count: number, jobs: readonly string[]}} found @param {string} text */
function preview({ count: all, jobs }, text) {
  const summary = jobs.length < all ? `The first ${count(jobs.length)} jobs` : 'The jobs';
  return h('div', {}, h('p', {}, text), jobList(summary, jobs));
}
