import type { StartIndex } from '../../../src/index/fill/open-index-of-store.js';
import { IndexError } from '../../../src/index/index-calls.js';
import type { LedgerIndex } from '../../../src/index/ledger-index.js';
import { indexFailureOf } from '../../../src/index/open-database.js';
import { openIndex } from '../../../src/index/open-index.js';

/** The index without a worker, for tests that open many. */
export const indexInProcess: StartIndex = async (files, storeId) => {
  const { index, place, isShared } = openIndex(files, storeId);
  let isEnded = false;
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
        throw new IndexError(indexFailureOf(error), String(error));
      }
    },
    async close() {
      if (!isEnded) index.close();
      isEnded = true;
    },
  };
};
