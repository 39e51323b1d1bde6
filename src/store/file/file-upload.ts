import { type CreateResult, type ObjectHeaders, type PendingUpload, StoreError } from '../object-store.js';
import { fileCall } from './file-errors.js';
import type { FilePublisher } from './file-publisher.js';
import { type TempFile, writeFully } from './temp-file.js';

/** An upload into a temp file. Offsets of concurrent writes follow from the order of the calls. */
export function createFileUpload(
  key: string,
  headers: ObjectHeaders,
  temp: TempFile,
  publisher: FilePublisher,
): PendingUpload {
  let size = 0;
  let failed = false;
  const inFlight = new Set<Promise<void>>();

  async function writeAt(part: Buffer, position: number): Promise<void> {
    try {
      await fileCall('write', key, () => writeFully(temp.handle, part, position));
    } catch (error) {
      failed = true;
      throw error;
    }
  }

  return {
    async write(part) {
      const position = size;
      size += part.length;
      const writing = writeAt(part, position);
      inFlight.add(writing);
      await writing.finally(() => inFlight.delete(writing));
    },

    async complete(): Promise<CreateResult> {
      await Promise.allSettled(inFlight);
      try {
        if (failed) throw new StoreError('complete', 'a part could not be written');
        return await fileCall('complete', key, () => publisher.create(key, temp, headers));
      } finally {
        await temp.discard();
      }
    },

    async abort() {
      await Promise.allSettled(inFlight);
      await temp.discard();
    },
  };
}
