import type { ObjectStore } from '../../store/object-store.js';
import { readToEnd } from '../../store/read-to-end.js';
import type { ByteRange } from './file-checks.js';
import { LedgerFileError } from './ledger-file-error.js';

/**
 * Reads a part of a file of known size. Throws `StoreError`, and `LedgerFileError` when it is missing, or has another size: it is not
 * the file that the range was made for.
 */
export async function readRange(
  store: ObjectStore,
  key: string,
  size: number,
  { start, end }: ByteRange,
): Promise<Buffer> {
  const reading = await store.read(key, { start, end: end - 1 });
  if (reading === null) throw new LedgerFileError(key, 'it is missing');
  if (reading.info.size !== size) {
    reading.body.destroy();
    throw new LedgerFileError(key, `it has ${reading.info.size} instead of ${size} bytes`);
  }
  return readToEnd(key, reading.body);
}
