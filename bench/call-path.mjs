import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathOf, stopAll } from './lib/processes.mjs';
import { startStandIn } from './lib/stores.mjs';
import { PATH, TARGETS } from './lib/targets.mjs';

/*
 * Prints the calls from the route handler of a small callback to the HTTP client of the S3 store, outermost first:
 * npm run build && node bench/call-path.mjs
 */

process.env.BENCH_NODE_OPTIONS = `--import ${pathOf('lib/trace-put.mjs')}`;
const scratch = mkdtempSync(join(tmpdir(), 'call-path-'));
const store = await startStandIn(scratch);
const receiver = await TARGETS.product.start({ store, scratch });
const address = `http://127.0.0.1:${receiver.port}${PATH.replace('{id}', 'job1')}`;
const headers = { 'Content-Type': 'application/json', ...TARGETS.product.headers };
let status = 503;
while (status === 503) {
  ({ status } = await fetch(address, { method: 'POST', headers, body: '{"format":"2.9","results":[]}' }));
}
await stopAll();
const calls = readFileSync(join(scratch, 'product.log'), 'utf8')
  .split('\n')
  .find((line) => line.startsWith('{"calls"'));
rmSync(scratch, { recursive: true });
const own = JSON.parse(calls).calls.filter((call) => call.includes('/dist/'));
console.log(`answer ${status}\n${own.join('\n')}`);
