/**
 * Throws made-up bodies, queries, addresses and credentials at the receiver's own functions and compares with a second
 * reading of each. Findings are written to test/unit/fuzz/fixtures, where a test repeats them for ever.
 *
 *   npm run fuzz [-- --cases 1000000] [--seed n]
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fuzz } from './fuzz.js';

const { values } = parseArgs({
  options: { cases: { type: 'string', default: '1000000' }, seed: { type: 'string' } },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
const began = performance.now();
const findings = await fuzz(seed, Number(values.cases), (done) => process.stderr.write(`\r${done} cases`));
process.stderr.write('\r');
const folder = new URL('../unit/fuzz/fixtures/', import.meta.url);
for (const { target, number, fault, found } of findings) {
  const name = `${target.replaceAll(' ', '-')}-${seed}-${number}.json`;
  console.log(`${target}, case ${number}: ${fault}\n  kept as ${name}`);
  mkdirSync(folder, { recursive: true });
  const kept = { target, fault, bytes: found.bytes.toString('base64'), details: found.details };
  writeFileSync(new URL(name, folder), `${JSON.stringify(kept, null, 2)}\n`);
}
const seconds = Math.round((performance.now() - began) / 1000);
console.log(`seed ${seed}, ${values.cases} cases in ${seconds} s`);
console.log(`verdict: ${findings.length === 0 ? 'passed' : 'FAILED'}: ${findings.length} findings`);
process.exit(findings.length === 0 ? 0 : 1);
