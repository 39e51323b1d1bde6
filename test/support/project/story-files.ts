import { once } from 'node:events';
import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createService } from '../../../src/app/service/create-service.js';
import { parseConfig } from '../../../src/config/config.js';
import { RIGHTS } from '../../../src/domain/rights.js';
import { createLogger } from '../../../src/observe/logger.js';
import type { Submitted } from './stories.js';

/**
 * A program: starts a receiver from the sources with the settings of the message it gets, sends it the requests of each story, and answers
 * with the files of src that ran a function between each request and its answer.
 */

const SRC = new URL('../../../src/', import.meta.url).href;
const TOKEN = 'a-token-of-the-story-probe';
/** Requests of each story before the files count, so that everything that is opened once is open. */
const WARM_UP = 2;
/** Milliseconds without a request, in which timers of a second fire. On a busy machine they also fire in each turn of a story. */
const IDLE_FOR = 1500;
/** Slower timers, such as a write to the store, do not fire in each of so many periods. */
const IDLE_TIMES = 3;

const [{ settings, stories }] = (await once(process, 'message')) as [Submitted];
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const service = await createService({
  config: parseConfig(settings),
  version: 'probe',
  adminTokens: { probe: { token: TOKEN, may: RIGHTS, sources: [] } },
  log: createLogger({ level: 'info', destination: { write: () => true } }),
  onFatal(error) {
    throw error;
  },
});
const { publicUrl, adminUrl } = await service.start();
// The start does not wait for a store that a busy machine takes long to prove.
while (!(await fetch(`${publicUrl}/readyz`)).ok) await sleep(100);

/** Functions of src, each with its file, that were called since the last look; the code of a module itself is none. */
async function functionsRun(): Promise<Map<string, string>> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const run = new Map<string, string>();
  for (const { url, functions } of result.filter((script) => script.url.startsWith(SRC))) {
    const file = url.slice(SRC.length);
    for (const { functionName, ranges } of functions) {
      const { startOffset = 0, count = 0 } = ranges[0] ?? {};
      const isModule = functionName === '' && startOffset === 0;
      if (!isModule && count > 0) run.set(`${file} ${startOffset}`, file);
    }
  }
  return run;
}

const ran: Record<string, Map<string, string>[]> = {};
for (const [name, requests] of Object.entries(stories)) {
  const runs: Map<string, string>[] = [];
  for (const [turn, { port, path, headers, body }] of requests.entries()) {
    await functionsRun();
    const answer = await fetch((port === 'public' ? publicUrl : adminUrl) + path, {
      method: 'POST',
      headers: { ...headers, ...(port === 'admin' ? { authorization: `Bearer ${TOKEN}` } : {}) },
      ...(body === undefined ? {} : { body }),
    });
    const run = await functionsRun();
    const said = await answer.text();
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${said}`);
    if (turn >= WARM_UP) runs.push(run);
  }
  ran[name] = runs;
}

const idle: Map<string, string>[] = [];
await functionsRun();
for (let time = 0; time < IDLE_TIMES; time += 1) {
  await sleep(IDLE_FOR);
  idle.push(await functionsRun());
}
const isOfTimers = (key: string) => idle.every((run) => run.has(key));

const files: Record<string, readonly string[]> = {};
for (const [name, runs] of Object.entries(ran)) {
  const each = runs.map(
    (run) => new Set([...run].filter(([key]) => !isOfTimers(key)).map(([, file]) => file)),
  );
  // Slower timers do not fire in every run.
  files[name] = [...(each[0] ?? [])].filter((file) => each.every((run) => run.has(file))).sort();
}
await service.stop();
process.send?.(files);
process.disconnect();
