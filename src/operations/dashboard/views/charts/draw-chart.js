import { clock, inZone } from '../../lib/text/format.js';
import uPlot from '../../vendor/uplot.js';

/** @import { Chart, ChartSeries } from './period-charts.js' */

/** Draws a chart into an element, or updates the one that is there. */

/**
 * @typedef {{chart: Chart}} Drawing the data that is on the canvas
 * @type {WeakMap<HTMLElement, {look: string, drawing: Drawing, plot: uPlot, end: () => void}>}
 */
const plots = new WeakMap();
const dark = matchMedia('(prefers-color-scheme: dark)');

/** Pixels, without the legend. */
const HEIGHT = 130;

/** @param {HTMLElement} host @param {Chart} chart */
export function drawChart(host, chart) {
  const before = plots.get(host);
  const look = `${dark.matches} ${chart.series.map(({ name }) => name).join()}`;
  if (before?.look === look) {
    before.drawing.chart = chart;
    before.plot.setData(dataOf(chart));
    return;
  }
  before?.end();
  const drawing = { chart };
  const plot = new uPlot(optionsOf(host, drawing), dataOf(chart), host);
  const watcher = new ResizeObserver(() => {
    // No width while the details around it are closed.
    if (host.clientWidth > 0) plot.setSize({ width: host.clientWidth, height: HEIGHT });
  });
  watcher.observe(host);
  // The table below the chart has the same links for keyboards.
  plot.over.onclick = () => {
    const { idx } = plot.cursor;
    if (idx !== null && idx !== undefined) location.hash = drawing.chart.linkTo(idx);
  };
  const end = () => {
    watcher.disconnect();
    plot.destroy();
  };
  plots.set(host, { look, drawing, plot, end });
}

/**
 * Bars are stacked: the largest sum is drawn first and the others over it.
 * @param {Chart} chart
 */
function stacked({ kind, series }) {
  return kind === 'lines' ? series : [...series].reverse();
}

/** @param {Chart} chart @returns {uPlot.AlignedData} */
function dataOf(chart) {
  const { kind, times, series } = chart;
  if (kind === 'lines') return [times, ...series.map(({ values }) => values)];
  const sums = stacked(chart).map((top) =>
    times.map((_, at) =>
      series.slice(0, series.indexOf(top) + 1).reduce((sum, { values }) => sum + (values[at] ?? 0), 0),
    ),
  );
  return [times, ...sums];
}

/** @param {HTMLElement} host @param {Drawing} drawing @returns {uPlot.Options} */
function optionsOf(host, drawing) {
  const { chart } = drawing;
  const grid = { stroke: colour(host, '--line'), width: 1 };
  const axis = { stroke: colour(host, '--quiet'), grid, font: '11px system-ui, sans-serif' };
  return {
    width: host.clientWidth,
    height: HEIGHT,
    padding: [8, 18, 0, 0],
    cursor: { drag: { x: false, y: false }, y: false },
    scales: {
      x: { range: () => timeRangeOf(drawing.chart) },
      y: { range: (_plot, _min, max) => [0, Math.max(1, max)] },
    },
    axes: [
      { ...axis, size: 26, values: (_plot, ticks) => ticks.map(timeLabel(ticks)) },
      {
        ...axis,
        size: 56,
        values: (_plot, ticks) =>
          ticks.map((tick) => (Number.isInteger(tick) ? drawing.chart.show(tick) : null)),
      },
    ],
    series: [
      { label: 'From', value: (_plot, time) => (time === null ? '–' : clock(time * 1000)) },
      ...stacked(chart).map((one) => seriesOf(host, drawing, one)),
    ],
  };
}

/**
 * To the end of the last bucket: its bar starts at its time, and it shows the latest data.
 * @param {Chart} chart @returns {[number, number]}
 */
function timeRangeOf({ times }) {
  const [first = 0, second = first + 1] = times;
  return [first, (times.at(-1) ?? first) + second - first];
}

/** @param {HTMLElement} host @param {Drawing} drawing @param {ChartSeries} series @returns {uPlot.Series} */
function seriesOf(host, drawing, { name, label, colour: variable }) {
  const { kind } = drawing.chart;
  const stroke = colour(host, `--series-${variable}`) || colour(host, '--series-other');
  /** @type {uPlot.Series['value']} the figure itself, which is a part of a stacked bar */
  const value = (_plot, _sum, _at, bucket) => {
    const { series, show } = drawing.chart;
    const figure = series.find((each) => each.name === name)?.values[bucket ?? -1];
    return figure ? show(figure) : '–';
  };
  if (kind === 'lines') {
    const dash = name === 'p95' ? [6, 4] : undefined;
    return { label, value, stroke, width: 2, dash, points: { show: true, size: 4 } };
  }
  const paths = uPlot.paths.bars?.({ size: [0.8, 40], align: 1 });
  return { label, value, stroke, fill: stroke, width: 0, paths, points: { show: false } };
}

/** @param {HTMLElement} host @param {string} name */
function colour(host, name) {
  return getComputedStyle(host).getPropertyValue(name).trim();
}

/** @type {Intl.DateTimeFormatOptions} */
const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' };

/**
 * Days and midnights show their date, all other ticks their time.
 * @param {number[]} ticks
 */
function timeLabel(ticks) {
  const [first = 0, second = first] = ticks;
  const days = second - first >= 43_200;
  /** @param {number} tick */
  return (tick) => {
    const date = new Date(tick * 1000);
    const isMidnight = inZone(date, CLOCK) === '00:00';
    return days || isMidnight ? inZone(date, { day: 'numeric', month: 'short' }) : inZone(date, CLOCK);
  };
}
