import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { readAhead } from '../read-ahead.js';

/** Failed deletions in a row, after which the rest is left for the next run: a bucket may deny all of them. */
const MAX_FAILURES = 100;

/**
 * Deletes objects. A failed deletion does not stop the others; the first `StoreError` is thrown at the end.
 *
 * @param onDeleted called for each deleted object
 */
export async function deleteEach(
  store: Pick<ObjectStore, 'delete'>,
  keys: AsyncIterable<string> | Iterable<string>,
  concurrency: number,
  onDeleted: () => void = () => {},
): Promise<void> {
  let first: StoreError | null = null;
  let failuresInRow = 0;
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
    failuresInRow = failure === null ? 0 : failuresInRow + 1;
    first ??= failure;
    if (failure === null) onDeleted();
    else if (failuresInRow === MAX_FAILURES) break;
  }
  if (first !== null) throw first;
}
