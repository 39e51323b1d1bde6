import { IndexError } from '../index-error.js';
import type { LedgerIndex } from '../ledger-index.js';
import type { StartIndex } from './open-index-of-store.js';

/** Opens an index in the calling thread, for processes that may block. */
export const indexInThread: StartIndex = async (files, storeId) => {
  const { openIndex } = await import('../open-index.js');
  const { index, place, isShared } = openIndex(files, storeId);
  let isEnded = false;

  function end(): void {
    if (!isEnded) index.close();
    isEnded = true;
  }

  return {
    place,
    isShared,
    isEnded: () => isEnded,
    async call(name, ...values) {
      try {
        const method = (index as Partial<LedgerIndex>)[name] as
          | ((...given: typeof values) => ReturnType<LedgerIndex[typeof name]>)
          | undefined;
        if (method === undefined) throw new Error(`${name} cannot be called of this index`);
        return method(...values);
      } catch (error) {
        const failure =
          error instanceof IndexError
            ? error
            : new IndexError(error instanceof Error ? error.message : String(error));
        // The next caller opens another one.
        if (failure.isLost) end();
        throw failure;
      }
    },
    close: async () => end(),
  };
};
