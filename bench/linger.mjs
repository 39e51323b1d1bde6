/**
 * Benefit and cost of `ledger.maxLinger`: lines per segment, and the time a line waits until it is durable, at several
 * rates of one replica. The real group commit over a store that takes `storeMs` for each write.
 *
 *   npm run build && node bench/linger.mjs [storeMs=30] [seconds=20] [rates=1,10,100,1000]
 *
 * Arrivals are random (exponential gaps). The cap of deliveries in flight and the size at which a segment counts as full
 * are those of the service's defaults. docs/scale.md quotes the table.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { createLedger } from '../dist/ledger/write/ledger.js';
import { exampleLine } from './lib/example-line.mjs';

const [storeMs = 30, seconds = 20] = process.argv.slice(2, 4).map(Number);
const RATES = (process.argv[4] ?? '1,10,100,1000').split(',').map(Number);
const LINGERS = [0, 20, 100, 200, 1000];
const MAX_IN_FLIGHT = 256;

async function measure(rate, maxLinger) {
  let segments = 0;
  const ledger = createLedger({
    store: {
      clockOffset: () => 0,
      async create() {
        segments += 1;
        await sleep(storeMs);
        return 'created';
      },
    },
    replica: 'bench',
    maxLinger,
    fullSegment: MAX_IN_FLIGHT / 2,
  });
  const waits = [];
  let inFlight = 0;
  let rejected = 0;
  let next = 0;
  const began = performance.now();
  const elapsed = () => performance.now() - began;
  const all = [];
  async function append() {
    if (inFlight >= MAX_IN_FLIGHT) {
      rejected += 1;
      return;
    }
    inFlight += 1;
    const started = performance.now();
    await ledger.append(exampleLine(all.length, Date.now()));
    waits.push(performance.now() - started);
    inFlight -= 1;
  }
  const length = Math.max(seconds, 40 / rate) * 1000;
  while (elapsed() < length) {
    for (; next <= elapsed(); next += (-Math.log(1 - Math.random()) * 1000) / rate) all.push(append());
    await sleep(Math.max(1, Math.min(next, length) - elapsed()));
  }
  await Promise.all(all);
  await ledger.close();
  waits.sort((a, b) => a - b);
  const quantile = (share) => Math.round(waits[Math.floor((waits.length - 1) * share)]);
  return { segments, lines: waits.length, rejected, p50: quantile(0.5), p99: quantile(0.99) };
}

console.log(
  `| callbacks/s | maxLinger | lines per segment | segments a day | p50 ms | p99 ms | over ${MAX_IN_FLIGHT} in flight |`,
);
console.log('|---:|---:|---:|---:|---:|---:|---:|');
for (const rate of RATES) {
  const rows = await Promise.all(LINGERS.map((linger) => measure(rate, linger)));
  for (const [index, { segments, lines, rejected, p50, p99 }] of rows.entries()) {
    const perSegment = lines / segments;
    const perDay = Math.round((rate * 86_400) / perSegment / 1000);
    console.log(
      `| ${rate} | ${LINGERS[index]} ms | ${perSegment.toFixed(1)} | ${perDay} k | ${p50} | ${p99} | ${rejected} |`,
    );
  }
}
