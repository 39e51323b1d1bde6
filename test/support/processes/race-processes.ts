import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { CreateResult } from '../../../src/store/object-store.js';
import type { StoreOptions } from '../../../src/store/open-store.js';

const RACER = fileURLToPath(new URL('racer.ts', import.meta.url));
const TYPESCRIPT = new URL('import-for-tests.mjs', import.meta.url).href;

/** Starts processes that create the same keys at the same time; results in the order of `names`. */
export async function raceProcesses(
  options: StoreOptions,
  keys: readonly string[],
  names: readonly string[],
): Promise<CreateResult[][]> {
  const children = names.map(() => fork(RACER, { execArgv: ['--import', TYPESCRIPT] }));
  try {
    await Promise.all(children.map((child) => once(child, 'message')));
    return await Promise.all(children.map((child, index) => race(child, options, keys, names[index] ?? '')));
  } finally {
    for (const child of children) child.kill();
  }
}

async function race(
  child: ChildProcess,
  options: StoreOptions,
  keys: readonly string[],
  name: string,
): Promise<CreateResult[]> {
  const answer = once(child, 'message');
  child.send({ options, keys, name });
  const died = once(child, 'exit').then(() => {
    throw new Error(`racer ${name} died`);
  });
  died.catch(() => undefined);
  const [results] = await Promise.race([answer, died]);
  return results;
}
