import { hash } from 'node:crypto';

/**
 * 96 bits of SHA-256. With four million ids of an hour in memory (100 million jobs a day), the odds that any job of a day
 * is taken for another settled one are less than 1 in 10^13. Such a job would be skipped until a full run.
 */
export const ID_BYTES = 12;

export function settledId(jobId: string): Buffer {
  return hash('sha256', jobId, 'buffer').subarray(0, ID_BYTES);
}

/** Sorts ids and joins them, so that they can be searched without unpacking. */
export function packIds(ids: readonly Buffer[]): Buffer {
  return Buffer.concat(ids.toSorted(Buffer.compare));
}

export function includesId(packed: Buffer, id: Buffer): boolean {
  let low = 0;
  let high = packed.length / ID_BYTES - 1;
  while (low <= high) {
    const middle = (low + high) >>> 1;
    const at = middle * ID_BYTES;
    const order = packed.compare(id, 0, ID_BYTES, at, at + ID_BYTES);
    if (order === 0) return true;
    if (order < 0) low = middle + 1;
    else high = middle - 1;
  }
  return false;
}
