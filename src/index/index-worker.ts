import { parentPort, workerData } from 'node:worker_threads';
import { quietThread } from './fill/quiet-thread.js';
import type { IndexAnswer, IndexRequest } from './index-calls.js';
import type { LedgerIndex } from './ledger-index.js';
import type { IndexFiles } from './open-index.js';

quietThread();
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
