import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { readAhead } from '../read-ahead.js';

/** Objects in a row that could not be deleted, after which the others are left for the next time: a bucket may deny all. */
const MAX_FAILURES = 100;

/**
 * Deletes objects; one that cannot be deleted keeps no other from it. Throws the first `StoreError` in the end.
 *
 * @param onDeleted called for each that was
 */
export async function deleteEach(
  store: Pick<ObjectStore, 'delete'>,
  keys: AsyncIterable<string> | Iterable<string>,
  concurrency: number,
  onDeleted: () => void = () => {},
): Promise<void> {
  let first: StoreError | null = null;
  let inRow = 0;
  const deletions = readAhead(keys, concurrency, (key) =>
    store.delete(key).then(
      () => null,
      (error: unknown) => {
        if (error instanceof StoreError) return error;
        throw error;
      },
    ),
  );
  for await (const failure of deletions) {
    inRow = failure === null ? 0 : inRow + 1;
    first ??= failure;
    if (failure === null) onDeleted();
    else if (inRow === MAX_FAILURES) break;
  }
  if (first !== null) throw first;
}
