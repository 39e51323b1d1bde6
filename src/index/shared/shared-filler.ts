import { assertListsLedger } from '../../ledger/retrying-reads.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexFiller } from '../fill/index-filler.js';
import type { IndexCalls } from '../index-calls.js';
import { IndexError } from '../index-error.js';
import { type FillRequest, requestFill } from './fill-requests.js';

/** Milliseconds that the writer has to add new lines; while it builds the index it does so between two hours. */
const NEW_LINES_TIMEOUT = 15_000;

/**
 * Fills an index that another process writes, by requests to that process.
 *
 * @param path of the index
 */
export function createSharedFiller(path: string, index: IndexCalls, store: ObjectStore): IndexFiller {
  const isWriterAlive = () => index.call('isWriterAlive');

  async function send(request: FillRequest, timeout: number): Promise<void> {
    if ((await requestFill(path, request, { timeout, isWriterAlive })) === 'done') return;
    // A fault of the store also affects this process, and is reported as such.
    await assertListsLedger(store);
    throw new IndexError('the process that keeps the index could not read the ledger; its log says why');
  }

  return {
    relist: () => undefined,
    addNew: () => send('new', NEW_LINES_TIMEOUT),
    async *addOlder() {
      await send('whole', Number.POSITIVE_INFINITY);
      yield;
    },
  };
}
