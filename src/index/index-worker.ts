import { constants, getPriority, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { IndexAnswer, IndexRequest } from './index-calls.js';
import type { LedgerIndex } from './ledger-index.js';
import type { IndexFiles } from './open-index.js';

// Node 22 says once for each process that SQLite is experimental (https://nodejs.org/api/sqlite.html). Node prints all other warnings.
const printers = process.listeners('warning');
process.removeAllListeners('warning');
process.on('warning', (warning) => {
  if (warning.name === 'ExperimentalWarning' && warning.message.startsWith('SQLite')) return;
  for (const print of printers) print(warning);
});
// A question may take a core for seconds. Linux has a priority for each thread (man 2 setpriority); elsewhere it is that of the process.
if (process.platform === 'linux')
  setPriority(Math.max(getPriority(), constants.priority.PRIORITY_BELOW_NORMAL));
const { openIndex } = await import('./open-index.js');
const { indexFailureOf } = await import('./open-database.js');

const { files, storeId } = workerData as { readonly files: IndexFiles; readonly storeId: string };
const { index, place, isShared } = openIndex(files, storeId);

function answer(message: IndexAnswer): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', ({ id, name, values }: IndexRequest) => {
  try {
    const method = (index as Partial<LedgerIndex>)[name] as
      | ((...given: readonly unknown[]) => unknown)
      | undefined;
    if (method === undefined) throw new Error(`${name} cannot be called of this index`);
    answer({ id, result: method(...values) });
  } catch (error) {
    const failure = indexFailureOf(error);
    answer({ id, failure, message: error instanceof Error ? error.message : String(error) });
    if (failure !== 'lost') return;
    // Whoever asks next starts another worker.
    index.close();
    parentPort?.close();
  }
});
answer({ id: 0, result: { place, isShared } });
