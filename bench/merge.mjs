/**
 * Merging an hour of the ledger at the heap of the image: lines a second, and the memory of the process.
 *
 *   npm run build && node bench/merge.mjs [lines=1000000] [linesPerSegment=12]
 *
 * The segments are files. A second process merges them, so that the memory is that of the merge alone.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createMerger } from '../dist/ledger/merge/merge.js';
import { openStore } from '../dist/store/open-store.js';
import { V8_FLAGS } from '../scripts/v8-flags.mjs';
import { exampleLine } from './lib/example-line.mjs';

const HEAP = '--max-old-space-size=192';
const START = Date.parse('2026-03-01T05:00:00Z');

async function merge(folder) {
  const store = await openStore({ url: `file:${folder}`, fsync: false });
  const rest = process.memoryUsage().rss;
  const began = performance.now();
  const report = await createMerger({ store, clock: Date.now, keepSegments: null }).run();
  const seconds = (performance.now() - began) / 1000;
  await store.close();
  const { lines, segments, records, faults } = report;
  const mebibytes = (bytes) => Math.round(bytes / 2 ** 20);
  const peak = process.resourceUsage().maxRSS * 1024;
  console.log(`${lines} lines of ${segments} segments in ${records} objects, ${faults.length} faults`);
  console.log(`${seconds.toFixed(1)} s, ${Math.round(lines / seconds)} lines a second`);
  console.log(`at most ${mebibytes(peak)} MiB, ${mebibytes(peak - rest)} above rest`);
}

function writeSegments(folder, lines, linesPerSegment) {
  const hour = join(folder, 'ledger/dt=2026-03-01/hour=05');
  mkdirSync(hour, { recursive: true });
  for (let number = 1; (number - 1) * linesPerSegment < lines; number += 1) {
    const first = (number - 1) * linesPerSegment;
    const count = Math.min(linesPerSegment, lines - first);
    const texts = Array.from({ length: count }, (_, index) =>
      JSON.stringify(exampleLine(first + index, START)),
    );
    writeFileSync(join(hour, `bench~${String(number).padStart(8, '0')}.ndjson`), `${texts.join('\n')}\n`);
  }
}

if (process.argv[2] === 'merge') await merge(process.argv[3]);
else {
  const [lines = 1_000_000, linesPerSegment = 12] = process.argv.slice(2).map(Number);
  const folder = mkdtempSync(join(tmpdir(), 'bench-merge-'));
  try {
    writeSegments(folder, lines, linesPerSegment);
    const own = [HEAP, ...V8_FLAGS, fileURLToPath(import.meta.url), 'merge', folder];
    process.exitCode = spawnSync(process.execPath, own, { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
