import { parentPort, workerData } from 'node:worker_threads';
import { indexInThread } from './fill/index-in-thread.js';
import { quietThread } from './fill/quiet-thread.js';
import type { IndexAnswer, IndexRequest } from './index-calls.js';
import { IndexError } from './index-error.js';
import type { IndexFiles } from './open-index.js';

quietThread();
const { files, storeId } = workerData as { readonly files: IndexFiles; readonly storeId: string };
const { place, isShared, call, isEnded } = await indexInThread(files, storeId);

function answer(message: IndexAnswer): void {
  parentPort?.postMessage(message);
}

parentPort?.on('message', async ({ id, name, values }: IndexRequest) => {
  try {
    answer({ id, result: await call(name, ...(values as never)) });
  } catch (error) {
    if (!(error instanceof IndexError)) throw error;
    answer({ id, isLost: error.isLost, message: error.message });
    // The next caller starts another worker.
    if (isEnded()) parentPort?.close();
  }
});
answer({ id: 0, result: { place, isShared } });
