/**
 * The functions a CPU profile spends its time in: `node bench/profile-top.mjs file.cpuprofile [rows=40]`.
 * Self time, then time by file, idle time left out.
 */
import { readFileSync } from 'node:fs';

const [file, rows = 40] = process.argv.slice(2);
const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8'));
const byId = new Map(nodes.map((node) => [node.id, node]));
const own = new Map();
const files = new Map();
let total = 0;
samples.forEach((id, index) => {
  const { functionName, url, lineNumber } = byId.get(id).callFrame;
  if (functionName === '(idle)') return;
  const time = timeDeltas[index];
  const place = url.replace(/^.*\/(node_modules|dist)\//, '$1/').replace(/^file:\/\//, '');
  total += time;
  add(own, `${functionName || '(anonymous)'}  ${place}:${lineNumber + 1}`, time);
  add(
    files,
    place.startsWith('node_modules/')
      ? place
          .split('/')
          .slice(0, place.includes('/@') ? 3 : 2)
          .join('/')
      : place || functionName,
    time,
  );
});
print('self time', own);
print('by file or package', files);

function add(map, key, time) {
  map.set(key, (map.get(key) ?? 0) + time);
}

function print(title, map) {
  console.log(`\n${title}, share of ${(total / 1e6).toFixed(2)} s busy`);
  for (const [key, time] of [...map].sort((a, b) => b[1] - a[1]).slice(0, Number(rows))) {
    console.log(`${((time / total) * 100).toFixed(1).padStart(5)} %  ${key}`);
  }
}
