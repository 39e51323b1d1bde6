/**
 * Ledger and read model at a given number of callbacks a day: the real code over a store that is computed instead of kept.
 *
 *   npm run build && node bench/scale-sim.mjs [callbacksPerDay=100000000] [replicas=12] [storeMs=30]
 *
 * Part 1 runs the real group commit at the average rate of a replica and at four times that. Part 2 lets the real read model look
 * at a ledger of that size and counts what it asks of the store. docs/scale.md reads the numbers.
 */
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeTime, encodeTime } from 'ulid';
import { createLedgerView } from '../dist/ledger/read/ledger-view.js';
import { createLedger } from '../dist/ledger/write/ledger.js';
import { exampleLine } from './lib/example-line.mjs';

const [perDay = 100e6, replicas = 12, storeMs = 30] = process.argv.slice(2).map(Number);
const perSecond = perDay / 86_400;
const round = (value, digits = 1) => Number(value.toFixed(digits));

/** The real ledger of one replica at a rate, over a store that takes `storeMs` for a write. */
async function groupCommit(rate, seconds) {
  let segments = 0;
  const store = {
    async create() {
      segments += 1;
      await sleep(storeMs);
      return 'created';
    },
  };
  const ledger = createLedger({ store, replica: 'sim' });
  const began = performance.now();
  const waiting = [];
  let [number, next] = [0, 0];
  // Arrivals are random, with exponential gaps.
  while (performance.now() - began < seconds * 1000) {
    for (; next <= performance.now() - began; next += (-Math.log(1 - Math.random()) * 1000) / rate) {
      waiting.push(ledger.append(exampleLine(number, Date.now())));
      number += 1;
    }
    await sleep(2);
  }
  await Promise.all(waiting);
  await ledger.close();
  return {
    rate,
    lines: number,
    segments,
    linesPerSegment: number / Math.max(1, segments),
    segmentsPerSecond: segments / seconds,
  };
}

/** A ledger in which every replica writes a segment every `stepMs`; nothing of it is kept. */
function computedStore(stepMs, linesPerSegment, now) {
  const counts = { lists: 0, listedKeys: 0, reads: 0, bytes: 0 };
  const start = now() - 7 * 86_400_000;
  const hourOf = (time) =>
    `ledger/dt=${new Date(time).toISOString().slice(0, 10)}/hour=${new Date(time).toISOString().slice(11, 13)}/`;
  return {
    counts,
    async *folders(prefix) {
      counts.lists += 1;
      if (!prefix.startsWith('ledger/')) return;
      const seen = new Set();
      for (let time = start; time <= now(); time += 3_600_000) {
        const folder =
          prefix === 'ledger/' ? hourOf(time).slice(0, 'ledger/dt=2026-01-01/'.length) : hourOf(time);
        if (folder.startsWith(prefix) && !seen.has(folder)) {
          seen.add(folder);
          yield folder;
        }
      }
    },
    async *list(prefix, { startAfter = '' } = {}) {
      // Nothing is compacted.
      if (!prefix.startsWith('ledger/dt=')) {
        counts.lists += 1;
        return;
      }
      const [, day, hour] = /dt=([\d-]+)\/hour=(\d\d)/.exec(prefix);
      const first = Date.parse(`${day}T${hour}:00:00Z`);
      const end = Math.min(first + 3_600_000, now());
      let page = 0;
      for (let time = first; time < end; time += stepMs) {
        const stamp = encodeTime(Math.floor(time));
        if (`${prefix}${stamp}~` <= startAfter) continue;
        for (let replica = 0; replica < replicas; replica += 1) {
          const key = `${prefix}${stamp}${'0'.repeat(14)}${String(replica).padStart(2, '0')}-r${replica}.ndjson`;
          if (key <= startAfter) continue;
          if (page % 1_000 === 0) counts.lists += 1;
          page += 1;
          counts.listedKeys += 1;
          yield { key, size: 1, modifiedAt: new Date(time) };
        }
      }
    },
    async read(key) {
      counts.reads += 1;
      const name = key.slice(key.lastIndexOf('/') + 1);
      const time = decodeTime(name.slice(0, 26));
      const seed = [...name.slice(0, 30)].reduce(
        (sum, letter) => (sum * 33 + letter.charCodeAt(0)) % 2 ** 40,
        7,
      );
      const lines = Array.from({ length: linesPerSegment }, (_, index) =>
        JSON.stringify(exampleLine(seed * 100 + index, time - (index % 20))),
      );
      const body = Buffer.from(`${lines.join('\n')}\n`);
      counts.bytes += body.length;
      return { info: { key, size: body.length }, body: Readable.from([body]) };
    },
  };
}

async function readModel(segmentsPerSecond, linesPerSegment) {
  let clock = Date.parse('2026-11-20T12:30:00Z');
  const store = computedStore(
    1000 / segmentsPerSecond,
    Math.max(1, Math.round(linesPerSegment)),
    () => clock,
  );
  const view = createLedgerView({ store, clock: () => clock, slowInterval: 1e9, fastInterval: 1e9 });
  const phase = async (name, run) => {
    const before = { ...store.counts };
    const cpu = process.cpuUsage();
    const began = performance.now();
    await run();
    const { user, system } = process.cpuUsage(cpu);
    console.log(
      JSON.stringify({
        phase: name,
        lists: store.counts.lists - before.lists,
        listedKeys: store.counts.listedKeys - before.listedKeys,
        gets: store.counts.reads - before.reads,
        megabytes: round((store.counts.bytes - before.bytes) / 1e6),
        cpuSeconds: round((user + system) / 1e6, 2),
        seconds: round((performance.now() - began) / 1000, 2),
        rows: view.status().rows,
        completeSince: view.status().completeSince,
        rssMB: Math.round(process.memoryUsage.rss() / 1e6),
      }),
    );
  };
  await phase('first load', () => view.refresh());
  clock += 3_000;
  await phase('a look 3 s later', () => view.refresh());
  clock += 3_000;
  await phase('another', () => view.refresh());
  await view.stop();
}

console.log(
  `${perDay} callbacks a day: ${round(perSecond)} per second, ${round(perSecond / replicas)} per replica of ${replicas}; a write takes ${storeMs} ms`,
);
const average = await printed(perSecond / replicas);
await printed((perSecond / replicas) * 4);
await readModel(average.segmentsPerSecond, average.linesPerSegment);
process.exit(0);

async function printed(rate) {
  const result = await groupCommit(rate, 20);
  const rounded = Object.entries(result).map(([name, value]) => [name, round(value, 2)]);
  console.log(JSON.stringify(Object.fromEntries(rounded)));
  return result;
}
