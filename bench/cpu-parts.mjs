/**
 * Where the CPU time of callbacks goes: shares of the main thread by package and folder of src, from the profiles that
 * `npm run bench -- --only json-10k --targets product --profile <folder>` wrote.
 *
 *   node bench/cpu-parts.mjs <folder>
 *
 * Time in Node and V8 counts for the code that called them. The first half of each profile, start and warm-up, is left out.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = process.argv[2] ?? '.';
const maps = new Map();
const parts = new Map();
// Those of the main thread: its number precedes the last one.
for (const name of readdirSync(folder).filter((name) => /\.0\.\d+\.cpuprofile$/.test(name)))
  addProfile(JSON.parse(readFileSync(join(folder, name), 'utf8')));
parts.delete('(idle)');
const total = [...parts.values()].reduce((sum, time) => sum + time, 0);
for (const [part, time] of [...parts].sort((a, b) => b[1] - a[1]))
  console.log(`${((100 * time) / total).toFixed(1).padStart(5)} %  ${part}`);

function addProfile({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const partById = new Map();
  // Callers come first.
  const walk = ({ id, callFrame, children = [] }, caller) => {
    const own = /^\((?:idle|program|garbage collector)\)$/.test(callFrame.functionName)
      ? callFrame.functionName
      : partOf(callFrame);
    partById.set(id, own ?? caller);
    for (const child of children) walk(byId.get(child), own ?? caller);
  };
  walk(nodes[0], 'Node, called by nobody');
  for (let at = Math.floor(samples.length / 2); at < samples.length; at += 1) {
    const part = partById.get(samples[at]);
    parts.set(part, (parts.get(part) ?? 0) + timeDeltas[at]);
  }
}

/** Undefined for code of Node and V8. */
function partOf({ url, lineNumber, columnNumber }) {
  const source = mapOf(url)?.findEntry(lineNumber, columnNumber).originalSource ?? '';
  return /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? /src\/[^/]+\/[^/]+/.exec(source)?.[0];
}

function mapOf(url) {
  const file = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : '';
  if (!maps.has(file))
    maps.set(file, existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : null);
  return maps.get(file);
}
