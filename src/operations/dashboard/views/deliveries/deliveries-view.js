import { ApiError, get, problemWith } from '../../lib/api/admin-api.js';
import { button } from '../../lib/elements/button.js';
import { h, link } from '../../lib/elements/dom.js';
import {
  contextFilter,
  filterForm,
  filterValues,
  isFiltered,
  knownNames,
  lineFilters,
  showFilters,
} from '../../lib/elements/filter-form.js';
import { emptyPanel, heading, indexNote, problemPanel } from '../../lib/elements/panels.js';
import { runAction } from '../../lib/elements/run-action.js';
import { parseRoute, to } from '../../lib/screen/route.js';
import { LINE_FILTER_NAMES } from '../../vendor/line-filters.js';
import { deliveryTable, firstCallback, identityOf } from './delivery-table.js';
import { exportDeliveries } from './export-deliveries.js';

/** @import { Deliveries, Health, LedgerLine, Names } from '../../lib/api/api-answers.js' */
/** @import { ButtonEvent } from '../../lib/elements/element-types.js' */
/** @import { Filter, FilterValues } from '../../lib/elements/filter-form.js' */
/** @import { Screen } from '../../lib/screen/screen.js' */

/**
 * @typedef {object} Lists
 * @property {readonly LedgerLine[]} latest the first page
 * @property {LedgerLine[]} older what the user has loaded below it
 * @property {string | null} cursor of what follows
 * @property {Health['index'] | null} index what the index has of the ledger; null before the first answer
 * @property {boolean} isContinued whether the user has loaded more than the first page
 */

const FILTERS = ['job', ...LINE_FILTER_NAMES, 'context', 'since', 'until', 'acts'];

/** Values of `acts`: what operators did is shown as well, and alone. */
const WITH_ACTS = 'with';
const ONLY_ACTS = 'only';

/**
 * The live list of deliveries.
 * @param {Screen} screen
 */
export function deliveriesView(screen) {
  const values = filterValues(FILTERS, screen.route.query);
  /** @type {Lists} */
  const lists = { latest: [], older: [], cursor: null, index: null, isContinued: false };
  /** @type {Health | undefined} */
  let health;
  screen.start('Deliveries');
  showFilters(screen.root, values);
  screen.keepFresh(3000, async (signal) => {
    const names = await knownNames();
    if (health === undefined || health.unknown.last24h !== undefined)
      health = await get('/health', { signal });
    const form = () => [ranges(), filterForm('deliveries', filtersOf(names, values), values)];
    const query = { ...asked(values), limit: 50 };
    const page = await get('/deliveries', { query, signal }).catch(problemWith('request-invalid'));
    // Instead of the list of the filters before.
    if (page instanceof ApiError) return screen.render(heading('Deliveries'), ...form(), problemPanel(page));
    lists.older = [...keepSeen(lists, page.deliveries), ...lists.older];
    lists.latest = page.deliveries;
    lists.index = page.index;
    if (!lists.isContinued) continueWith(lists, page);
    const shown = health;
    const draw = () =>
      screen.render(heading('Deliveries'), ...form(), list(screen, values, lists, shown, draw));
    draw();
  });
}

/**
 * The filters as the API has them.
 * @param {FilterValues} values
 */
function asked({ acts, ...filters }) {
  if (acts === ONLY_ACTS) return { ...filters, only: 'acts' };
  return { ...filters, without: acts === WITH_ACTS ? '' : 'acts' };
}

/** @type {[label: string, milliseconds: number][]} */
const RANGES = [
  ['15 minutes', 15 * 60_000],
  ['1 hour', 3_600_000],
  ['24 hours', 24 * 3_600_000],
  ['7 days', 7 * 24 * 3_600_000],
];

/** The filters of the address. The list of the filters before, and its buttons, stay until the new one is there. */
function currentFilters() {
  return filterValues(FILTERS, parseRoute(location.hash).query);
}

/** Sets `since` by one click; the other filters stay. */
function ranges() {
  return h(
    'div',
    { class: 'switch', role: 'group', 'aria-label': 'Received in the last', 'data-key': 'ranges' },
    RANGES.map(([label, milliseconds]) => {
      const onclick = () => {
        const since = new Date(Date.now() - milliseconds).toISOString();
        location.hash = to('deliveries', { ...currentFilters(), since, until: null });
      };
      return button(label, onclick, 'plain small');
    }),
  );
}

/** @param {Names} names @param {FilterValues} values @returns {Filter[]} */
function filtersOf(names, values) {
  return [
    { name: 'job', label: 'Job', takes: 'text' },
    ...lineFilters(LINE_FILTER_NAMES, names, values),
    ...contextFilter(names, values.context),
    { name: 'since', label: 'Since', takes: 'instant' },
    { name: 'until', label: 'Until', takes: 'instant' },
    {
      name: 'acts',
      label: 'Operators’ acts',
      takes: [
        ['', 'Without'],
        [WITH_ACTS, 'With'],
        [ONLY_ACTS, 'Only'],
      ],
    },
  ];
}

/**
 * Rows pushed off the first page stay on screen once the user has loaded older ones.
 * @param {Lists} lists @param {readonly LedgerLine[]} fresh
 */
function keepSeen({ latest, isContinued }, fresh) {
  if (!isContinued) return [];
  const there = new Set(fresh.map(identityOf));
  return latest.filter((line) => !there.has(identityOf(line)));
}

/** @param {Lists} lists @param {Deliveries} page */
function continueWith(lists, page) {
  lists.cursor = page.nextCursor;
}

/**
 * @param {Screen} screen @param {FilterValues} values @param {Lists} lists @param {Health} health
 * @param {() => void} draw
 */
function list(screen, values, lists, health, draw) {
  const lines = [...lists.latest, ...lists.older];
  const isEmpty = lines.length === 0;
  const note = lists.index && indexNote(lists.index, askedTime(values, lists));
  const isNone = isEmpty && lists.cursor === null;
  const isAsked = isFiltered({ ...values, acts: values.acts === ONLY_ACTS ? ONLY_ACTS : '' });
  if (isNone && note === null && !isAsked) return firstCallback(health, Date.parse(health.at));
  const section = { 'aria-label': 'List', 'data-key': 'list' };
  if (isNone)
    return h('section', section, note, isAsked ? noMatch(values) : emptyPanel('No delivery was found.'));
  const loadOlder = (/** @type {ButtonEvent} */ event) =>
    runAction(event.currentTarget, async () => {
      const query = { ...asked(values), limit: 100, cursor: lists.cursor };
      const page = await get('/deliveries', { query, signal: screen.signal });
      lists.older.push(...page.deliveries);
      lists.isContinued = true;
      continueWith(lists, page);
      draw();
      return null;
    });
  return h(
    'section',
    section,
    note,
    h('p', { class: 'buttons' }, button('Export as CSV', onExport, 'plain')),
    deliveryTable(lines, 'Deliveries, newest first', Date.now()),
    lists.cursor !== null && h('p', {}, button('Load older', loadOlder, 'plain')),
  );
}

/**
 * Older lines than those that are shown are asked for by a button.
 * @param {FilterValues} values @param {Lists} lists
 */
function askedTime({ since, until }, { latest, older, cursor }) {
  const last = [...latest, ...older].at(-1);
  const begin = cursor !== null && last !== undefined ? last.receivedAt : since;
  return {
    ...(begin && { since: Date.parse(begin) }),
    ...(until && { until: Math.min(Date.parse(until), Date.now()) }),
  };
}

/** @param {ButtonEvent} event */
function onExport({ currentTarget }) {
  return runAction(currentTarget, () => exportDeliveries(asked(currentFilters())));
}

/** @param {FilterValues} values */
function noMatch(values) {
  const withActs = link(to('deliveries', { ...values, acts: WITH_ACTS }), 'show operators’ acts');
  return emptyPanel(
    'No delivery matches these filters.',
    h(
      'p',
      {},
      'Choose a longer time, ',
      values.acts === '' && [withActs, ', '],
      'or ',
      link('#/deliveries', 'clear all filters'),
      '.',
    ),
    values.outcome === 'refused' &&
      h(
        'p',
        {},
        'Requests that were refused without a valid credential are on ',
        link('#/refusals', 'Refusals'),
        '.',
      ),
  );
}
