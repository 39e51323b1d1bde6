import { LEDGER_FOLDER } from '../../ledger/ledger-keys.js';
import type { ObjectStore } from '../../store/object-store.js';
import { ERASURES_FOLDER } from '../layout.js';

/**
 * Warning before results are stored in an empty store. Only the operator knows whether it replaces another store, whose erased jobs the
 * service may still have.
 */
export const EMPTY_STORE =
  'the store is empty. If it replaces another one, stop now, and copy .erasures/ and .erasure-log/ from that one or from its backup first: otherwise jobs that were erased there are stored again (docs/operations.md#restore)';

/** Whether the store has no ledger, no job and no mark of an erased job. Throws `StoreError`. */
export async function isEmptyStore(store: Pick<ObjectStore, 'list'>): Promise<boolean> {
  for (const folder of [LEDGER_FOLDER, ERASURES_FOLDER, 'jobs/'])
    for await (const _ of store.list(folder, { limit: 1 })) return false;
  return true;
}
