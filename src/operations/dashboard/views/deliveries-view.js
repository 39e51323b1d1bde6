import { ApiError, get, problemWith } from '../lib/api/admin-api.js';
import { button } from '../lib/elements/button.js';
import { h, link } from '../lib/elements/dom.js';
import {
  contextFilter,
  filterForm,
  filterValues,
  isFiltered,
  knownNames,
  lineFilters,
  showFilters,
} from '../lib/elements/filter-form.js';
import { loadMore } from '../lib/elements/load-more.js';
import { emptyPanel, heading, indexNote, problemPanel } from '../lib/elements/panels.js';
import { parseRoute, to } from '../lib/screen/route.js';
import { LINE_FILTER_NAMES } from '../vendor/line-filters.js';
import { deliveryTable, firstCallback } from './delivery-table.js';

/** @import { Deliveries, Health, Names } from '../lib/api/api-answers.js' */
/** @import { Filter, FilterValues } from '../lib/elements/filter-form.js' */
/** @import { ShownRows } from '../lib/elements/load-more.js' */
/** @import { Refresh, Screen } from '../lib/screen/screen.js' */

/** Values of `acts`: what operators did is shown as well, and alone. */
const WITH_ACTS = 'with';
const ONLY_ACTS = 'only';

/**
 * The live list of deliveries.
 * @param {Screen} screen
 */
export function deliveriesView(screen) {
  const values = filterValues(deliveryFilters, screen.route.query);
  const rows = { shown: 50 };
  /** @type {Health | undefined} */
  let health;
  screen.start('Deliveries');
  showFilters(screen.root, values);
  const again = screen.keepFresh(3000, async (signal) => {
    const names = await knownNames();
    if (health === undefined || health.unknown.last24h !== undefined)
      health = await get('/health', { signal });
    const form = [ranges(), filterForm('deliveries', deliveryFilters(names, values), values)];
    const query = { ...asked(values), limit: rows.shown };
    const page = await get('/deliveries', { query, signal }).catch(problemWith('request-invalid'));
    // Instead of the list of the filters before.
    if (page instanceof ApiError) return screen.render(heading('Deliveries'), ...form, problemPanel(page));
    const shown = list(values, page, health, rows, () => again());
    screen.render(heading('Deliveries'), ...form, shown);
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
  return filterValues(deliveryFilters, parseRoute(location.hash).query);
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

/** @param {Names} names @param {FilterValues} [values] @returns {Filter[]} */
export function deliveryFilters(names, values = {}) {
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

/** @param {FilterValues} values @param {Deliveries} page @param {Health} health @param {ShownRows} rows @param {Refresh} again */
function list(values, page, health, rows, again) {
  const { deliveries, nextCursor, index } = page;
  const note = indexNote(index, askedTime(values, page));
  const isNone = deliveries.length === 0 && nextCursor === null;
  const isAsked = isFiltered({ ...values, acts: values.acts === ONLY_ACTS ? ONLY_ACTS : '' });
  if (isNone && note === null && !isAsked) return firstCallback(health, Date.parse(health.at));
  const section = { 'aria-label': 'List', class: 'compact', 'data-key': 'list' };
  if (isNone)
    return h('section', section, note, isAsked ? noMatch(values) : emptyPanel('No delivery was found.'));
  return h(
    'section',
    section,
    note,
    deliveryTable(deliveries, 'Deliveries, newest first', Date.now()),
    loadMore('deliveries', rows, nextCursor, again),
  );
}

/**
 * Older lines than those that are shown are asked for by a button.
 * @param {FilterValues} values @param {Deliveries} page
 */
function askedTime({ since, until }, { deliveries, nextCursor }) {
  const last = deliveries.at(-1);
  const begin = nextCursor !== null && last !== undefined ? last.receivedAt : since;
  return {
    ...(begin && { since: Date.parse(begin) }),
    ...(until && { until: Math.min(Date.parse(until), Date.now()) }),
  };
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
