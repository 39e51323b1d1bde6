import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/*
 * Counts files and lines of source folders, without tests and without generated and copied files:
 * node bench/source-size.mjs src
 */

const WITHOUT = /(^|\/)(node_modules|vendor|generated|dist|tests?|__tests__)\/|\.d\.ts$|\.test\.|\.spec\./;

const files = process.argv.slice(2).flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|js|mjs)$/.test(file) && !WITHOUT.test(file))
    .map((file) => join(folder, file)),
);
const linesOf = (file) => readFileSync(file, 'utf8').split('\n').length - 1;
const lines = files.map(linesOf).sort((a, b) => a - b);
const counts = new Map();
for (const folder of files.map(dirname)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
const perFolder = [...counts].sort(([, a], [, b]) => a - b);
const median = (sorted) => (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;

console.log({
  files: files.length,
  lines: lines.reduce((sum, each) => sum + each, 0),
  linesPerFile: { median: median(lines), largest: lines.at(-1) },
  largest: files.find((file) => linesOf(file) === lines.at(-1)),
  filesPerFolder: { median: median(perFolder.map(([, count]) => count)), most: perFolder.at(-1) },
});
