// node --import scripts/run-typescript.mjs executed-files.mjs json|form: prints the files of src whose functions a callback executes.
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createService } from '../../../src/app/service.js';
import { parseConfig } from '../../../src/config/config.js';
import { createLogger } from '../../../src/observe/logger.js';

const SRC = new URL('../../../src/', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'executed-files-'));
const config = parseConfig({
  receiver: { host: '127.0.0.1', port: 0 },
  admin: { port: 0 },
  store: { url: `file:${folder}` },
  recovery: { interval: 'off' },
});
const service = await createService({
  config,
  version: 'test',
  adminTokens: {},
  log: createLogger({ level: 'info', destination: { write: () => undefined } }),
  onFatal: (error) => {
    throw error;
  },
});
const { publicUrl } = await service.start();

async function deliver(id, init) {
  const answer = await fetch(`${publicUrl}/callbacks/default?id=${id}&status=success`, {
    method: 'POST',
    ...init,
  });
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}

const session = new Session();
session.connect();
await session.post('Profiler.enable');

/** Callbacks, and the least calls of a function in them: what runs now and then beside them is not on their way. */
const TIMES = 20;

/** Files with a function that ran each time that `work` did. */
async function executedBy(work) {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  for (let time = 0; time < TIMES; time += 1) await work(`job-${time}`);
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const isRun = ({ functionName, ranges: [range] }) => functionName !== '' && range.count >= TIMES;
  return result
    .filter(({ url, functions }) => url.startsWith(SRC) && functions.some(isRun))
    .map(({ url }) => url.slice(SRC.length))
    .sort();
}

const json = (id) =>
  deliver(id, {
    headers: { 'Content-Type': 'application/json' },
    body: '{"format":"2.9","job":{},"metadata":{},"results":[]}',
  });
const form = (id) => {
  const body = new FormData();
  body.set(
    'transcript',
    new Blob(['{"format":"2.9","job":{},"metadata":{},"results":[]}'], { type: 'application/json' }),
    'transcript.json',
  );
  body.set('jobinfo', new Blob(['{"id":"j"}'], { type: 'application/json' }), 'jobinfo.json');
  return deliver(id, { body });
};
const send = process.argv[2] === 'form' ? form : json;
// What is made once is not part of each callback.
await send('first');
console.log(JSON.stringify(await executedBy(send)));
await service.stop();
rmSync(folder, { recursive: true });
