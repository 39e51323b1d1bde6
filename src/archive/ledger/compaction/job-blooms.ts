import { hashParquetValue, readBloomFilter, sbbfContains } from 'hyparquet/src/bloom.js';
import type { ByteRange } from './file-checks.js';
import { checkOfBloom } from './file-checks.js';
import type { GroupFooter } from './ledger-footer.js';

const JOB_ID = { name: 'jobId', type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;

/** Bloom filters of the job ids of a file's row groups; null for a row group without jobs. */
export type JobBlooms = readonly (Uint32Array | null)[];

/** The bytes that hold all filters: the writer puts them next to each other. Null without filters. */
export function rangeOfBlooms(groups: readonly GroupFooter[]): ByteRange | null {
  const ranges = groups.flatMap(({ bloomRange }) => bloomRange ?? []);
  if (ranges.length === 0) return null;
  return {
    start: Math.min(...ranges.map(({ start }) => start)),
    end: Math.max(...ranges.map(({ end }) => end)),
  };
}

/**
 * Throws when a filter is damaged: it could hide lines of a job.
 *
 * @param bytes those of `rangeOfBlooms`
 */
export function parseBlooms(groups: readonly GroupFooter[], bytes: Buffer): JobBlooms {
  const first = rangeOfBlooms(groups)?.start ?? 0;
  return groups.map(({ bloom, bloomRange }, index) => {
    if (bloomRange === null) return null;
    const part = bytes.subarray(bloomRange.start - first, bloomRange.end - first);
    const view = new DataView(part.buffer, part.byteOffset, part.byteLength);
    const filter = readBloomFilter({ view, offset: 0 });
    if (filter === undefined || checkOfBloom(filter.blocks) !== bloom) {
      throw new Error(`the bloom filter of row group ${index} is damaged`);
    }
    return filter.blocks;
  });
}

/** Indexes of the row groups that may hold lines of the job. */
export function rowGroupsOfJob(blooms: JobBlooms, jobId: string): number[] {
  const hash = hashParquetValue(jobId, JOB_ID);
  return blooms.flatMap((filter, index) =>
    filter !== null && (hash === undefined || sbbfContains(filter, hash)) ? [index] : [],
  );
}
