import { ApiError, get, problemWith } from '../lib/api/admin-api.js';
import { h, link } from '../lib/elements/dom.js';
import {
  filterForm,
  filterValues,
  knownNames,
  lineFilters,
  showFilters,
} from '../lib/elements/filter-form.js';
import { emptyPanel, heading, indexNote, problemPanel, section } from '../lib/elements/panels.js';
import { figure, table } from '../lib/elements/table.js';
import { to } from '../lib/screen/route.js';
import { clock } from '../lib/text/format.js';
import {
  FIGURE_COLUMNS,
  groupTitle,
  restInWords,
  rowInWords,
  summaryInWords,
} from '../vendor/index/summary-words.js';
import { NAMED_FILTER_NAMES } from '../vendor/line-filters.js';
import { contextOfGroup, SUMMARY_GROUPS } from '../vendor/summary-groups.js';
import { chartFigures, drawCharts } from './charts/chart-figures.js';
import { dayNotes } from './charts/chart-text.js';
import { periodCharts } from './charts/period-charts.js';

/** @import { Names, Summary } from '../lib/api/api-answers.js' */
/** @import { Filter, FilterValues } from '../lib/elements/filter-form.js' */
/** @import { Screen } from '../lib/screen/screen.js' */

/** @typedef {NonNullable<Summary['groups']>[number]} SummaryRow */

/** What was wrong. */
const DEFAULT_GROUP = 'cause';

const HOUR = 3_600_000;

/** Parts of the time that a chart has at most. */
const BUCKETS = 72;

/**
 * Milliseconds between two updates. A sum by context reads every line of the time range; a past range changes only while the index is
 * built, and new lines change a range of days little.
 */
const SHORT_INTERVAL = 10_000;
const LONG_INTERVAL = 60_000;

/**
 * What arrived in a time, how much of it was wrong, and whose: in sentences, over time, and grouped.
 * @param {Screen} screen
 */
export function summaryView(screen) {
  const values = filterValues(summaryFilters, screen.route.query);
  const { by = DEFAULT_GROUP, ...filters } = { ...values, by: values.by || DEFAULT_GROUP };
  screen.start('Summary');
  showFilters(screen.root, values);
  const isOver = Date.parse(values.until ?? '') < Date.now();
  const isLong = Date.now() - Date.parse(values.since ?? '') > 48 * HOUR;
  screen.keepFresh(
    isOver || isLong || contextOfGroup(by) !== null ? LONG_INTERVAL : SHORT_INTERVAL,
    async (signal) => {
      const form = filterForm('summary', summaryFilters(await knownNames(), values), values);
      const answers = await Promise.all([
        get('/summary', { query: { ...filters, by, limit: 500 }, signal }),
        get('/summary', { query: { ...filters, buckets: BUCKETS }, signal }),
      ]).catch(problemWith('request-invalid'));
      // Instead of the figures of the filters before.
      if (answers instanceof ApiError) return screen.render(heading('Summary'), form, problemPanel(answers));
      const [summary, parts] = answers;
      const charts = chartsOf(parts, values);
      screen.render(
        heading('Summary'),
        form,
        figures(summary, values),
        chartsSection(parts, charts, values),
        groupsSection(summary, values),
      );
      drawCharts(charts, screen.signal);
    },
  );
}

/** @param {Summary} parts @param {FilterValues} values */
function chartsOf(parts, { by: _, ...filters }) {
  const charts = periodCharts(parts, (since, until) =>
    to('deliveries', { ...filters, since, until: until ?? filters.until }),
  );
  return charts.filter(({ id, times }) => ['outcomes', 'share'].includes(id) && times.length > 1);
}

/** @param {Summary} parts @param {ReturnType<typeof chartsOf>} charts @param {FilterValues} values */
function chartsSection(parts, charts, values) {
  if (charts.length === 0) return null;
  return section(
    { id: 'over-time', title: 'Over time', key: 'charts' },
    chartFigures(charts, `${values.since} ${values.until}`),
    dayNotes(parts).map((text) => h('p', { class: 'quiet', 'data-key': 'days' }, text)),
  );
}

/** @param {Names} names @param {FilterValues} [values] @returns {Filter[]} */
export function summaryFilters(names, values = {}) {
  const others = SUMMARY_GROUPS.filter((group) => group !== DEFAULT_GROUP);
  const groups = [DEFAULT_GROUP, ...others, ...names.contexts.map((name) => `context.${name}`)];
  const example = names.contexts[0] ?? 'name';
  return [
    { name: 'since', label: 'Since', takes: 'instant' },
    { name: 'until', label: 'Until', takes: 'instant' },
    {
      name: 'by',
      label: 'Grouped by',
      takes: groups.map((group) => [group, groupTitle(group)]),
    },
    ...lineFilters(NAMED_FILTER_NAMES, names, values),
    { name: 'context', label: 'Context', takes: 'text', example: `${example}=…` },
  ];
}

/** @param {Summary} summary @param {FilterValues} values */
function figures(summary, values) {
  const { since, until, index } = summary;
  const asked = { since: Date.parse(since), until: Math.min(Date.parse(until), Date.now()) };
  return section(
    { id: 'in-all', title: `${clock(since)} to ${clock(until, Date.parse(since))}`, key: 'total' },
    indexNote(index, asked),
    h(
      'ul',
      {},
      summaryInWords(summary).map((text) => h('li', { 'data-key': text.slice(0, 20) }, text)),
    ),
    h('p', {}, link(toDeliveries(summary, values), 'Show these deliveries')),
  );
}

/** @param {Summary} summary @param {FilterValues} values */
function groupsSection(summary, values) {
  const { by, groups, rest } = summary;
  if (by === null || groups === null) return null;
  const isEmpty = groups.length === 0;
  const title = groupTitle(by);
  const rows = groups.map((row) => ({ ...row, name: nameCell(row, by, summary, values) }));
  const last = rest && { ...rest, value: null, source: '', note: null, name: restInWords(rest) };
  return section(
    { id: 'groups', title },
    isEmpty
      ? emptyPanel('Nothing was found in this time.')
      : table(
          `Deliveries by ${title.toLowerCase()}`,
          last === null ? rows : [...rows, last],
          (row) => (row === last ? 'rest' : `${row.value} ${row.source} ${row.note}`),
          [
            { name: title, cell: ({ name }) => name },
            by === 'cause' && { name: 'Source', cell: ({ source }) => source ?? '–' },
            ...FIGURE_COLUMNS.map((column) => ({
              name: column.title,
              cell: (/** @type {Summary['total']} */ row) => figure(column.text(row) ?? '–'),
            })),
          ],
          'summary',
        ),
  );
}

/**
 * The name of a row, as a link to its deliveries where the list has such a filter.
 * @param {SummaryRow} row @param {string} by @param {Summary} summary @param {FilterValues} values
 */
function nameCell(row, by, summary, values) {
  const text = rowInWords(by, row, clock);
  const filter = filterOf(row, by);
  return filter === null ? text : link(toDeliveries(summary, { ...values, ...filter }), text);
}

/** @param {SummaryRow} row @param {string} by @returns {FilterValues | null} null where no filter is as narrow */
function filterOf({ value, lines }, by) {
  if (value === null || lines === 0) return null;
  if (by === 'hour' || by === 'day') {
    const width = by === 'hour' ? HOUR : 24 * HOUR;
    return { since: value, until: new Date(Date.parse(value) + width).toISOString() };
  }
  const context = contextOfGroup(by);
  if (context !== null) return { context: `${context}=${value}` };
  return by === 'cause' ? null : { [by]: value };
}

/** @param {Summary} summary @param {FilterValues} filters */
function toDeliveries({ since, until }, { by: _, ...filters }) {
  return to('deliveries', { ...filters, since: filters.since || since, until: filters.until || until });
}
