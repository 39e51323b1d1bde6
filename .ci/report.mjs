// report.mjs NAME BASE FILES EXIT SECONDS: says in a few lines how a jest run went (all of a failure, little of a success)
// and writes "passed failed" to BASE.count. Reads BASE.json (jest --json) and BASE.log.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const [name, base, files, exit, seconds] = process.argv.slice(2);
const results = existsSync(`${base}.json`) ? JSON.parse(readFileSync(`${base}.json`, 'utf8')) : null;
const faults = [];

if (exit === '124' || exit === '137') faults.push('ran out of time');
if (!results) faults.push(`wrote no results (exit code ${exit})`);
else if (results.numTotalTestSuites !== Number(files)) {
  faults.push(`ran ${results.numTotalTestSuites} of ${files} test files`);
} else if (results.numTotalTests === 0) faults.push('ran no tests');

const passed = results?.numPassedTests ?? 0;
let failed = (results?.numFailedTests ?? 0) + (results?.numRuntimeErrorTestSuites ?? 0) + faults.length;
if (failed === 0 && exit !== '0') {
  faults.push(`exit code ${exit} although no test failed`);
  failed += 1;
}
writeFileSync(`${base}.count`, `${passed} ${failed}\n`);

const skipped = (results?.numPendingTests ?? 0) + (results?.numTodoTests ?? 0);
const counts = `${passed} passed, ${failed} failed${skipped ? `, ${skipped} SKIPPED` : ''}`;
console.log(`${failed ? 'FAILED' : 'ok    '}  ${name}: ${counts} (${seconds} s)`);

const indent = (text) => text.replace(/^/gm, '    ');
for (const file of results?.testResults ?? []) {
  if (file.status === 'failed') {
    console.log(indent(`${relative(process.cwd(), file.name)}\n${file.message.trim().slice(0, 20_000)}`));
  }
}
for (const fault of faults) console.log(`    ${fault}`);
if (faults.length)
  console.log(indent(readFileSync(`${base}.log`, 'utf8').trimEnd().split('\n').slice(-60).join('\n')));
