import { TARGETS } from './targets.mjs';

export function median(values) {
  const sorted = values.filter((value) => value !== null && value !== undefined).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Medians of the rounds, and ratios of the product to each contestant, taken round by round and then the median. */
export function summarise(scenario, rounds) {
  const rate = scenario.kind === 'large' ? 'megabytesPerSecond' : 'perSecond';
  return scenario.targets.map((name) => {
    const own = rounds.map((round) => round[name]).filter(Boolean);
    const ratios = rounds.flatMap((round) =>
      round[name] && round.product ? [round.product[rate] / round[name][rate]] : [],
    );
    const numbers = Object.keys(own[0] ?? {}).filter(
      (key) => typeof own[0][key] === 'number' || own[0][key] === null,
    );
    const statuses = {};
    for (const round of own)
      for (const [status, count] of Object.entries(round.statuses))
        statuses[status] = (statuses[status] ?? 0) + count;
    return {
      name,
      ...Object.fromEntries(numbers.map((key) => [key, median(own.map((round) => round[key]))])),
      productRatio: name === 'product' ? 1 : median(ratios),
      rounds: own.length,
      statuses,
    };
  });
}

/**
 * CPU of the product divided by the minimum: receiving a request (bare Express) and sending one (the signed PUT loop). The
 * median of the rounds; null where one of them did not run.
 */
function ratioToMinimum(rounds) {
  return median(
    rounds.map(({ product, 'bare-express': bare, 'put-loop': put }) =>
      product && bare && put ? product.cpuMs / (bare.cpuMs + put.cpuMs) : null,
    ),
  );
}

/** Ratios with a goal, which the table does not show. `earlier` are the scenarios of this run so far. */
export function notes(name, rounds, earlier) {
  const ratio = ratioToMinimum(rounds);
  if (ratio !== null)
    return `\nIts CPU is ${ratio.toFixed(2)} times that of bare Express and the signed PUT loop together.\n`;
  const lone = earlier.find((each) => each.name === 'json-10k')?.rows.find((row) => row.name === 'product');
  const cpuMs = median(rounds.map(({ product }) => product?.cpuMs));
  if (!lone || cpuMs === null || !['three-parts', 'duplicates'].includes(name)) return '';
  return `\nIts CPU is ${(cpuMs / lone.cpuMs).toFixed(2)} times that of a fresh callback of 10 KB.\n`;
}

const number = (value, digits) =>
  value === null || value === undefined || Number.isNaN(value) ? '-' : value.toFixed(digits);
const COLUMNS = {
  small: [
    ['callbacks/s', (row) => number(row.perSecond, 0)],
    ['p50 ms', (row) => number(row.p50, 1)],
    ['p99 ms', (row) => number(row.p99, 1)],
    ['CPU ms each', (row) => number(row.cpuMs, 3)],
    ['store writes each', (row) => number(row.writes, 3)],
    ['peak RSS MB', (row) => number(row.peakRss / 1e6, 0)],
    ['product is', (row) => `${number(row.productRatio, 2)} x`],
  ],
  large: [
    ['MB/s', (row) => number(row.megabytesPerSecond, 0)],
    ['CPU s', (row) => number(row.cpuSeconds, 2)],
    ['peak RSS MB', (row) => number(row.peakRss / 1e6, 0)],
    ['product is', (row) => `${number(row.productRatio, 2)} x`],
  ],
  flood: [
    ['refusals/s', (row) => number(row.perSecond, 0)],
    ['p99 ms', (row) => number(row.p99, 1)],
    ['CPU ms each', (row) => number(row.cpuMs, 3)],
    ['good p99 ms, quiet', (row) => number(row.quietP99, 1)],
    ['good p99 ms, flood', (row) => number(row.goodP99, 1)],
    ['product is', (row) => `${number(row.productRatio, 2)} x`],
  ],
};

export function table(scenario, rows) {
  const columns = [['', (row) => TARGETS[row.name].title], ...COLUMNS[scenario.kind], ['answers', answers]];
  return [
    `| ${columns.map(([title]) => title).join(' | ')} |`,
    `|${columns.map((_, index) => (index === 0 ? '---' : '---:')).join('|')}|`,
    ...rows.map((row) => `| ${columns.map(([, cell]) => cell(row)).join(' | ')} |`),
  ].join('\n');
}

function answers({ statuses }) {
  return (
    Object.entries(statuses)
      .map(([status, count]) => `${status === '0' ? 'broken' : status}: ${count}`)
      .join(', ') || '-'
  );
}
