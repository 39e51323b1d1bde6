import type { ObjectStore } from '../../store/object-store.js';
import { readToEnd } from '../../store/read-to-end.js';
import type { ByteRange } from './file-checks.js';
import { LedgerFileError } from './ledger-file-error.js';

/**
 * Reads a part of an object of known size; null when the object is missing. Throws `LedgerFileError` when it has another
 * size: it is not the object the range was made for.
 */
export async function readRange(
  store: ObjectStore,
  key: string,
  size: number,
  { start, end }: ByteRange,
): Promise<Buffer | null> {
  const reading = await store.read(key, { start, end: end - 1 });
  if (reading === null) return null;
  if (reading.info.size !== size) {
    reading.body.destroy();
    throw new LedgerFileError(key, `it has ${reading.info.size} instead of ${size} bytes`);
  }
  const bytes = await readToEnd(key, reading.body);
  if (bytes.length !== end - start) throw new LedgerFileError(key, `bytes ${start} to ${end} are missing`);
  return bytes;
}
