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

/** @param {HTMLElement} host @param {Chart} chart @param {HTMLElement} readout */
export function drawChart(host, chart, readout) {
  const before = plots.get(host);
  const look = `${dark.matches} ${chart.series.map(({ name }) => name).join()}`;
  if (before?.look === look) {
    before.drawing.chart = chart;
    before.plot.setData(dataOf(chart));
    return;
  }
  before?.end();
  const drawing = { chart };
  const plot = new uPlot(optionsOf(host, drawing, readout), dataOf(chart), host);
  const watcher = new ResizeObserver(() => {
    // No width while the details around it are closed.
    if (host.clientWidth > 0) plot.setSize(sizeOf(host));
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

/** @param {HTMLElement} host */
function sizeOf({ clientWidth: width, clientHeight: height }) {
  return { width, height };
}

/**
 * Bars are stacked: the largest sum is drawn first and the others over it.
 * @param {Chart} chart @returns {uPlot.AlignedData}
 */
function dataOf({ kind, times, series }) {
  if (kind === 'lines') return [times, ...series.map(({ values }) => values)];
  /** @type {number[][]} */
  const sums = [];
  let below = times.map(() => 0);
  for (const { values } of series) {
    below = below.map((sum, index) => sum + (values[index] ?? 0));
    sums.unshift(below);
  }
  return [times, ...sums];
}

/**
 * @param {HTMLElement} host @param {Drawing} drawing @param {HTMLElement} readout @returns {uPlot.Options}
 */
function optionsOf(host, drawing, readout) {
  const { chart } = drawing;
  const series = chart.kind === 'lines' ? chart.series : [...chart.series].reverse();
  const ink = colour(host, '--quiet');
  const grid = { stroke: colour(host, '--line'), width: 1 };
  const axis = { stroke: ink, grid, ticks: { show: false }, font: '11px system-ui, sans-serif' };
  return {
    ...sizeOf(host),
    padding: [8, 18, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: chart.kind === 'lines' }, y: false },
    scales: {
      x: { range: () => timeRangeOf(drawing.chart) },
      y: { range: (_plot, _min, max) => [0, roundTop(max, INCREMENTS[chart.id])] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        space: 70,
        size: 26,
        values: (_plot, ticks) => ticks.map(timeLabel(ticks)),
      },
      {
        ...axis,
        size: 56,
        incrs: INCREMENTS[chart.id],
        splits: (_plot, _axis, _min, max) => stepsTo(max, INCREMENTS[chart.id]),
        values: (_plot, ticks) => ticks.map((tick) => drawing.chart.show(tick)),
      },
    ],
    series: [{}, ...series.map((one) => seriesOf(host, chart.kind, one))],
    hooks: {
      drawClear: [(plot) => hatchUncounted(plot, drawing.chart, ink)],
      setCursor: [(plot) => showReadout(plot.cursor.idx, drawing.chart, readout)],
    },
  };
}

/** Pixels between the lines of the hatching. */
const HATCHING = 9;

/**
 * Time that the index lacks is no time without deliveries.
 * @param {uPlot} plot @param {Chart} chart @param {string} ink
 */
function hatchUncounted({ ctx, bbox, valToPos }, { countedSince }, ink) {
  if (countedSince === null) return;
  const { left, top, width, height } = bbox;
  const end = Math.min(valToPos(countedSince, 'x', true), left + width);
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, end - left, height);
  ctx.clip();
  ctx.beginPath();
  for (let x = left; x < end + height; x += HATCHING * devicePixelRatio) {
    ctx.moveTo(x, top);
    ctx.lineTo(x - height, top + height);
  }
  ctx.globalAlpha = 0.35;
  ctx.lineWidth = devicePixelRatio;
  ctx.strokeStyle = ink;
  ctx.stroke();
  ctx.restore();
}

/**
 * To the end of the last bucket: its bar starts at its time, and it shows the latest data.
 * @param {Chart} chart @returns {[number, number]}
 */
function timeRangeOf({ times }) {
  const [first = 0, second = first + 1] = times;
  return [first, (times.at(-1) ?? first) + second - first];
}

/** Counts use whole numbers. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 1e7];
/** @type {Record<Chart['id'], number[]>} */
const INCREMENTS = {
  outcomes: WHOLE,
  latency: WHOLE,
  share: [0.1, 0.2, 0.5, 1, 2, 5, 10, 25],
};

/** Maximum number of steps of a scale. */
const MAX_STEPS = 4;

/**
 * The axis ends at the first step above the largest value.
 * @param {number} max @param {number[]} increments
 */
function roundTop(max, increments) {
  const step = stepFor(max, increments);
  return Math.max(1, Math.ceil(max / step)) * step;
}

/** @param {number} top @param {number[]} increments */
function stepsTo(top, increments) {
  const step = stepFor(top, increments);
  return Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
}

/** @param {number} max @param {number[]} increments */
function stepFor(max, increments) {
  return increments.find((step) => max / step <= MAX_STEPS) ?? max / MAX_STEPS;
}

/**
 * @param {HTMLElement} host @param {Chart['kind']} kind @param {ChartSeries} series @returns {uPlot.Series}
 */
function seriesOf(host, kind, { name, colour: variable }) {
  const stroke = colour(host, `--series-${variable}`) || colour(host, '--series-other');
  if (kind === 'lines')
    return {
      stroke,
      width: 2,
      points: {
        size: 5,
        filter: (plot, index, all) => (all ? null : lonePoints([...(plot.data[index] ?? [])])),
      },
      dash: name === 'p95' ? [6, 4] : undefined,
      spanGaps: false,
    };
  return {
    stroke,
    fill: stroke,
    width: 0,
    paths: uPlot.paths.bars?.({ size: [0.8, 40], align: 1 }),
    points: { show: false },
  };
}

/**
 * Indexes of values without a neighbour, which no line connects; null if there are none.
 * @param {(number | null | undefined)[]} values
 */
function lonePoints(values) {
  const lone = [...values.keys()].filter(
    (at) => values[at] != null && values[at - 1] == null && values[at + 1] == null,
  );
  return lone.length > 0 ? lone : null;
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

/** @param {number | null | undefined} index @param {Chart} chart @param {HTMLElement} readout */
function showReadout(index, { times, series, show, countedSince }, readout) {
  const time = times[index ?? -1];
  const none = time !== undefined && time < (countedSince ?? 0) ? 'not in the index' : 'nothing';
  const parts = series.flatMap(({ label, values }) => {
    const value = values[index ?? -1];
    return value ? [`${show(value)} ${label.toLowerCase()}`] : [];
  });
  readout.textContent = time === undefined ? '' : `From ${clock(time * 1000)}: ${parts.join(', ') || none}`;
}
