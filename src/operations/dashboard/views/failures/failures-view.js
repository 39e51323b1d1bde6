import { get } from '../../lib/api/admin-api.js';
import { canRefetch, may } from '../../lib/api/session.js';
import { button, unseen } from '../../lib/elements/button.js';
import { h, link } from '../../lib/elements/dom.js';
import {
  filterForm,
  filterValues,
  isFiltered,
  knownNames,
  lineFilters,
  optionsOf,
  showFilters,
} from '../../lib/elements/filter-form.js';
import { loadMore, SHORT_LIST } from '../../lib/elements/load-more.js';
import {
  emptyPanel,
  heading,
  indexNote,
  jobLink,
  moment,
  outcomeBadge,
  section,
} from '../../lib/elements/panels.js';
import { table } from '../../lib/elements/table.js';
import { toJob } from '../../lib/screen/route.js';
import { capital, count, total } from '../../lib/text/format.js';
import { outcomeOf } from '../../lib/text/ledger-terms.js';
import { causeInWords, isFetchable } from '../../vendor/failure-causes.js';
import { FAILURES } from '../../vendor/failure-rules.js';
import { reasonInWords } from '../../vendor/reasons.js';
import { acknowledgeButton, noRefetch, refetchOnClick } from '../job/job-actions.js';
import { causesSection } from './causes-section.js';
import { quarantineSection } from './quarantine-list.js';

/** @import { FailureLine, Failures, Names } from '../../lib/api/api-answers.js' */
/** @import { Filter, FilterValues } from '../../lib/elements/filter-form.js' */
/** @import { ShownRows } from '../../lib/elements/load-more.js' */
/** @import { Refresh, Screen } from '../../lib/screen/screen.js' */

/** The causes come first: of each list these rows, then more. */
const FIRST_PAGE = 20;

/**
 * Failing jobs and quarantined bodies, each with its cause and a button that repairs it.
 * @param {Screen} screen
 */
export function failuresView(screen) {
  const values = filterValues(failureFilters, screen.route.query);
  const bodies = { shown: FIRST_PAGE };
  const jobs = { shown: FIRST_PAGE };
  screen.start('Failures');
  showFilters(screen.root, values);
  const again = screen.keepFresh(6000, async (signal) => {
    const names = await knownNames();
    const [quarantine, failing] = await Promise.all([
      get('/quarantine', { query: { limit: bodies.shown }, signal }),
      get('/failures', { query: { ...values, limit: jobs.shown }, signal }),
    ]);
    screen.render(
      heading('Failures'),
      failureSection(failing, names, values, jobs, () => again()),
      quarantineSection(quarantine, bodies, () => again()),
    );
  });
}

/**
 * Failing jobs: those that can still be fetched, and those that need a decision.
 * @param {Failures} page @param {Names} names @param {FilterValues} values
 * @param {ShownRows} rows @param {Refresh} again
 */
function failureSection(page, names, values, rows, again) {
  const { failures, counts, nextCursor } = page;
  const filtered = isFiltered(values);
  const note = indexNote(page.index, { since: Date.parse(page.since) });
  const fetchable = failures.filter(isFetchable);
  const others = failures.filter((line) => !fetchable.includes(line));
  return section(
    { id: 'failed', title: 'Jobs' },
    filterForm('failures', failureFilters(names, values, page.causes), values),
    failures.length === 0
      ? noFailures(filtered, note === null)
      : [
          h('p', { 'data-key': 'counts' }, countsInWords(counts)),
          fetchable.length > 0 && noRefetch(),
          causesSection(page.causes, values, again),
          h(
            'details',
            { 'data-key': `jobs ${filtered}`, open: filtered || failures.length <= SHORT_LIST },
            h('summary', {}, shownInWords(failures.length, total(counts))),
            group('Can be fetched again', 'the service may still have the results', fetchable, again),
            group(
              'Need a decision',
              'the service no longer has the results, or two versions are kept',
              others,
              again,
            ),
            loadMore('jobs', rows, nextCursor, again),
          ),
        ],
    note,
  );
}

/** @param {boolean} filtered @param {boolean} isWhole whether the index has all that was asked for */
function noFailures(filtered, isWhole) {
  if (filtered)
    return emptyPanel(
      'No failing job matches these filters.',
      h('p', {}, link('#/failures', 'Clear all filters'), '.'),
    );
  return emptyPanel(
    isWhole ? 'No job is failing.' : 'No failing job was found.',
    h(
      'p',
      {},
      'Jobs are listed here when reconcile cannot fetch their results, when an authenticated callback was rejected, and when two versions of a result are kept. Settled by an operator: ',
      link('#/deliveries?outcome=acknowledged', 'acknowledged'),
      '.',
    ),
  );
}

/**
 * "849 jobs: 800 failed, 49 conflict."
 * @param {Failures['counts']} counts
 */
function countsInWords(counts) {
  const each = Object.entries(counts).map(
    ([outcome, number]) => `${count(number)} ${outcomeOf(outcome).word.toLowerCase()}`,
  );
  return `${count(total(counts), 'job')}: ${each.join(', ')}.`;
}

/** @param {number} shown @param {number} all */
function shownInWords(shown, all) {
  return shown < all ? `The ${count(shown, 'job')} that the service deletes first` : count(all, 'job');
}

/** @param {Names} names @param {FilterValues} [values] @param {Failures['causes']} [causes] @returns {Filter[]} */
export function failureFilters(names, values = {}, causes = []) {
  const outcome = (/** @type {string} */ name) => outcomeOf(name).word;
  return [
    { name: 'outcome', label: 'Outcome', takes: optionsOf(FAILURES, values.outcome, outcome) },
    ...lineFilters(['source', 'region'], names, values),
    { name: 'since', label: 'Failed since', takes: 'instant' },
    { name: 'cause', label: 'Cause', takes: optionsOf(codesOf(causes), values.cause, causeInWords) },
  ];
}

/** @param {string} title @param {string} meaning @param {readonly FailureLine[]} failures @param {Refresh} again */
function group(title, meaning, failures, again) {
  if (failures.length === 0) return null;
  return h(
    'div',
    { class: 'group compact', 'data-key': title },
    h('h3', {}, title, ' ', h('span', { class: 'quiet' }, `(${meaning})`)),
    table(title, failures, (line) => line.jobId ?? line.deliveryId, [
      { name: 'When', cell: ({ receivedAt }) => moment(receivedAt) },
      { name: 'Job', cell: ({ jobId }) => jobLink(jobId) },
      { name: 'State', cell: ({ outcome }) => outcomeBadge(outcome) },
      {
        name: 'Cause',
        cell: ({ reason, outcome }) => `${capital(reasonInWords(reason) ?? causeInWords(outcome))}.`,
      },
      { name: 'Kept by the service, at most', cell: keptUntil },
      may('repair') && { name: 'Repair', cell: (line) => repairs(line, again) },
    ]),
  );
}

/** @param {Failures['causes']} causes */
function codesOf(causes) {
  return [...new Set(causes.map(({ code }) => code))];
}

/** @param {FailureLine} line @param {Refresh} again */
function repairs({ outcome, jobId }, again) {
  const id = jobId ?? '';
  return h(
    'div',
    { class: 'buttons' },
    repairOf(outcome, id, again),
    acknowledgeButton(id, again, 'plain small'),
  );
}

/**
 * Until when the service keeps the results. In a conflict nothing has to be fetched.
 * @param {FailureLine} line
 */
function keptUntil({ outcome, retentionEndsAt }) {
  if (outcome === 'conflict') return '–';
  if (outcome === 'unrecoverable' || Date.parse(retentionEndsAt) < Date.now())
    return h('span', { class: 'quiet' }, 'no longer');
  return h('span', {}, 'until ', moment(retentionEndsAt));
}

/** @param {string} outcome @param {string} jobId @param {Refresh} again */
function repairOf(outcome, jobId, again) {
  const named = unseen(` ${jobId}`);
  if (outcome === 'conflict') return link(toJob(jobId), 'Decide', named);
  if (outcome === 'unrecoverable') return link(toJob(jobId), 'Import', named);
  return canRefetch() && button(['Refetch', named], refetchOnClick(jobId, again), 'plain small');
}
