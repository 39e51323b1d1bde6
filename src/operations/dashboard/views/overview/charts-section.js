import { h, link } from '../../lib/elements/dom.js';
import { to } from '../../lib/screen/route.js';
import { clock } from '../../lib/text/format.js';
import { chartData, DAY, RANGES, toStretch } from './chart-data.js';
import { isEmpty, notesOf, sentenceOf } from './chart-text.js';

/** @import { Health, Summary } from '../../lib/api/api-answers.js' */
/** @import { Chart, Range } from './chart-data.js' */

/** Charts over time: drawn on a canvas, with a sentence and a table as text alternatives. */

/** @param {URLSearchParams} query */
export function rangeOf(query) {
  return RANGES.find(({ name }) => name === query.get('range')) ?? DAY;
}

/** @param {Summary} summary @param {Health} health @param {Range} range */
export function chartsSection(summary, health, range) {
  const charts = chartData(summary, health);
  /** @param {boolean} isMain */
  const figures = (isMain) =>
    h(
      'div',
      { class: 'charts' },
      charts.filter((chart) => chart.isMain === isMain).map((chart) => figure(chart, range)),
    );
  return h(
    'section',
    { 'aria-labelledby': 'over-time', 'data-key': 'charts' },
    h('div', { class: 'heading' }, h('h2', { id: 'over-time' }, 'Over time'), rangeLinks(range)),
    figures(true),
    h('details', { 'data-key': 'more' }, h('summary', {}, 'By region, and bytes'), figures(false)),
    notesOf(summary).map((text) => h('p', { class: 'quiet', 'data-key': text.slice(0, 12) }, text)),
  );
}

/** @param {Range} chosen */
function rangeLinks(chosen) {
  return h(
    'nav',
    { class: 'switch', 'aria-label': 'Time range' },
    RANGES.map(({ name, label }) =>
      h('a', { href: to('', { range: name }), 'aria-current': name === chosen.name && 'true' }, label),
    ),
    h('a', { href: to('summary') }, 'Any time…'),
  );
}

/** @param {Chart} chart @param {Range} range */
function figure(chart, range) {
  const { id, title } = chart;
  return h(
    'figure',
    { 'data-key': id, class: 'chart', 'aria-labelledby': `chart-${id}` },
    h(
      'figcaption',
      {},
      h('span', { id: `chart-${id}` }, title),
      chart.sum && h('span', { class: 'sum' }, chart.sum),
    ),
    isEmpty(chart) ? h('p', { class: 'quiet', 'data-key': 'empty' }, chart.empty) : plot(chart, range),
  );
}

/** @param {Chart} chart @param {Range} range */
function plot(chart, range) {
  const { id, title, series } = chart;
  return [
    h(
      'ul',
      { class: 'legend' },
      series.map(({ colour, label }) =>
        h('li', { 'data-series': colour }, h('span', { class: 'swatch' }), label),
      ),
    ),
    h('div', {
      class: 'plot',
      id: `plot-${id}`,
      'data-keep': `${id}-${range.name}`,
      'data-key': range.name,
      'aria-hidden': 'true',
    }),
    h('p', { class: 'readout quiet', id: `readout-${id}`, 'data-keep': 'readout' }),
    h('details', {}, h('summary', {}, `${title} as text`), h('p', {}, sentenceOf(chart)), chartTable(chart)),
  ];
}

/**
 * Only buckets with data.
 * @param {Chart} chart
 */
function chartTable({ title, series, times, show }) {
  const busy = times
    .map((time, index) => ({ time, index, figures: series.map(({ values }) => values[index] ?? null) }))
    .filter(({ figures }) => figures.some((figure) => figure));
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': `${title}: table` },
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'From'),
          series.map(({ label }) => h('th', { scope: 'col' }, label)),
        ),
      ),
      h(
        'tbody',
        {},
        busy.map(({ time, index, figures }) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, link(toStretch(times, index), clock(time * 1000))),
            figures.map((figure) => h('td', {}, figure === null ? '–' : show(figure))),
          ),
        ),
      ),
    ),
  );
}

/**
 * The chart library is loaded separately: if that fails, only the charts are missing.
 * @type {Promise<typeof import('./draw-chart.js') | null> | null}
 */
let drawing = null;

/** @param {Summary} summary @param {Health} health @param {AbortSignal} signal */
export async function drawCharts(summary, health, signal) {
  drawing ??= import('./draw-chart.js').catch(() => null);
  const module = await drawing;
  if (module === null || signal.aborted) return;
  for (const chart of chartData(summary, health)) {
    const host = document.getElementById(`plot-${chart.id}`);
    const readout = document.getElementById(`readout-${chart.id}`);
    if (host !== null && readout !== null) module.drawChart(host, chart, readout);
  }
}
