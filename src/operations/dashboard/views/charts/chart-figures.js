import { h, link } from '../../lib/elements/dom.js';
import { clock } from '../../lib/text/format.js';
import { isEmpty } from './chart-text.js';

/** @import { Chart } from './period-charts.js' */

/** Charts over time: drawn on a canvas, with a table as text alternative. */

/**
 * @param {readonly Chart[]} charts @param {string} period name of what is shown; a different one replaces the drawing
 */
export function chartFigures(charts, period) {
  return h(
    'div',
    { class: 'charts' },
    charts.map((chart) => figure(chart, period)),
  );
}

/** @param {Chart} chart @param {string} period */
function figure(chart, period) {
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
    isEmpty(chart) ? h('p', { class: 'quiet', 'data-key': 'empty' }, chart.empty) : plot(chart, period),
  );
}

/** @param {Chart} chart @param {string} period */
function plot(chart, period) {
  const { id, title } = chart;
  return [
    h('div', {
      class: 'plot',
      id: `plot-${id}`,
      'data-keep': `${id}-${period}`,
      'data-key': period,
      'aria-hidden': 'true',
    }),
    h('details', {}, h('summary', {}, `${title} as a table`), chartTable(chart)),
  ];
}

/**
 * Only buckets with data.
 * @param {Chart} chart
 */
function chartTable({ title, series, times, show, linkTo }) {
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
            h('th', { scope: 'row' }, link(linkTo(index), clock(time * 1000))),
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

/** @param {readonly Chart[]} charts @param {AbortSignal} signal */
export async function drawCharts(charts, signal) {
  drawing ??= import('./draw-chart.js').catch(() => null);
  const module = await drawing;
  if (module === null || signal.aborted) return;
  for (const chart of charts) {
    const host = document.getElementById(`plot-${chart.id}`);
    if (host !== null) module.drawChart(host, chart);
  }
}
