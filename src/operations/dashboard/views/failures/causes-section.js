import { post } from '../../lib/api/admin-api.js';
import { canRefetch, may } from '../../lib/api/session.js';
import { confirmDialog } from '../../lib/elements/confirm-dialog.js';
import { h, link } from '../../lib/elements/dom.js';
import { firstAndLast, jobLink, outcomeBadge } from '../../lib/elements/panels.js';
import { runAction } from '../../lib/elements/run-action.js';
import { to } from '../../lib/screen/route.js';
import { capital, count } from '../../lib/text/format.js';
import { causeInWords, isFetchable } from '../../vendor/failure-causes.js';

/** @import { Failures } from '../../lib/api/api-answers.js' */
/** @import { ButtonEvent } from '../../lib/elements/element-types.js' */
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
        isFetchable(cause) &&
          canRefetch() &&
          h(
            'button',
            { type: 'button', class: 'small', onclick: (event) => refetchAll(event, cause) },
            `Refetch ${all}…`,
          ),
        h(
          'button',
          { type: 'button', class: 'plain small', onclick: (event) => acknowledgeAll(event, cause, again) },
          `Acknowledge ${all}…`,
        ),
      ],
      values.cause !== code && link(to('failures', { ...values, cause: code, source }), 'Show only these'),
    ),
  ];
}

/** @param {ButtonEvent} event @param {Cause} cause */
async function refetchAll(event, { code, source, outcome }) {
  const button = event.currentTarget;
  const selector = {
    kind: /** @type {const} */ ('refetch'),
    cause: code,
    source: source ?? undefined,
    outcome,
  };
  await runAction(button, async () => {
    const found = await post('/replays', { selector, dryRun: true });
    if (!('count' in found)) return null;
    const agreed = await confirmDialog({
      title: `Refetch ${count(found.count, 'job')}?`,
      body: preview(found, 'Their missing results are fetched from the service. What is stored stays.'),
      confirm: 'Refetch all',
      reasonRequired: true,
    });
    if (agreed === null) return null;
    const started = await post('/replays', { selector, dryRun: false, reason: agreed.reason });
    if ('replayId' in started) location.hash = to(`replays/${encodeURIComponent(started.replayId)}`);
    return null;
  });
}

/** @param {ButtonEvent} event @param {Cause} cause @param {Refresh} again */
async function acknowledgeAll(event, { code, source }, again) {
  const button = event.currentTarget;
  const order = { cause: code, source: source ?? undefined };
  await runAction(button, async () => {
    const found = await post('/failures/acknowledge', { ...order, dryRun: true });
    const agreed = await confirmDialog({
      title: `Acknowledge ${count(found.count, 'job')}?`,
      body: preview(
        found,
        'They are no longer listed as failing unless they fail again. Nothing is deleted or fetched.',
      ),
      confirm: 'Acknowledge all',
      reasonRequired: true,
    });
    if (agreed === null) return null;
    const { acknowledged } = await post('/failures/acknowledge', { ...order, reason: agreed.reason });
    return `${count(acknowledged, 'job was', 'jobs were')} acknowledged.`;
  });
  await again();
}

/** @param {{count: number, jobs: readonly string[]}} found @param {string} text */
function preview({ count: all, jobs }, text) {
  return h(
    'div',
    {},
    h('p', {}, text),
    h(
      'details',
      {},
      h('summary', {}, jobs.length < all ? `The first ${count(jobs.length)} jobs` : 'The jobs'),
      h(
        'ul',
        { class: 'job-ids' },
        jobs.map((id) => h('li', {}, jobLink(id))),
      ),
    ),
  );
}
