import type { LedgerIndex } from '../ledger-index.js';
import type { StartIndex } from './open-index-of-store.js';

/** Opens an index in the thread that asks it, for processes in which nothing waits meanwhile. */
export const indexInThread: StartIndex = async (files, storeId) => {
  const { openIndex } = await import('../open-index.js');
  const { asIndexError } = await import('../open-database.js');
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
        const method = (index as LedgerIndex)[name] as (
          ...given: typeof values
        ) => ReturnType<LedgerIndex[typeof name]>;
        return method(...values);
      } catch (error) {
        const failed = asIndexError(error);
        // Whoever asks next opens another one.
        if (failed.failure === 'lost') end();
        throw failed;
      }
    },
    close: async () => end(),
  };
};
