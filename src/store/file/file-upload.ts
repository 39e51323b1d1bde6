import { type CreateResult, type ObjectHeaders, type PendingUpload, StoreError } from '../object-store.js';
import { fileCall } from './file-errors.js';
import type { FilePublisher } from './file-publisher.js';
import { type TempFile, writeFully } from './temp-file.js';

/** An upload into a temp file. Concurrent writes go to the offsets that their call order gives them. */
export function createFileUpload(
  key: string,
  headers: ObjectHeaders,
  temp: TempFile,
  publisher: FilePublisher,
): PendingUpload {
  let size = 0;
  let ended = false;
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

  async function end(): Promise<void> {
    ended = true;
    await Promise.allSettled(inFlight);
  }

  return {
    async write(part) {
      if (ended) throw new StoreError('write', 'the upload has ended');
      const position = size;
      size += part.length;
      const writing = writeAt(part, position);
      inFlight.add(writing);
      await writing.finally(() => inFlight.delete(writing));
    },

    async complete(): Promise<CreateResult> {
      if (ended) throw new StoreError('complete', 'the upload has ended');
      await end();
      try {
        if (failed) throw new StoreError('complete', 'a part could not be written');
        return await fileCall('complete', key, () => publisher.create(key, temp, headers));
      } finally {
        await temp.discard();
      }
    },

    async abort() {
      await end();
      await temp.discard();
    },
  };
}
