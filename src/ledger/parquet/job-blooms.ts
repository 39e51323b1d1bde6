import { hashParquetValue, readBloomFilter, sbbfInsert } from 'hyparquet/src/bloom.js';
import type { RollupRowGroup } from '../rollup/rollup.js';

const JOB_ID = { name: 'jobId', type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;

/** Bloom filters of the job ids of a file's row groups; null for a row group without jobs. */
export type JobBlooms = readonly (Uint32Array | null)[];

/** @param filters of the file, one after the other */
export function parseBlooms(groups: readonly RollupRowGroup[], filters: Buffer): JobBlooms {
  const view = new DataView(filters.buffer, filters.byteOffset, filters.byteLength);
  const reader = { view, offset: 0 };
  return groups.map(({ hasJobs }) => (hasJobs ? (readBloomFilter(reader)?.blocks ?? null) : null));
}

/** The block of a filter that a job is looked for in, and its bits. Takes 10 microseconds to compute, hundreds of times per lookup. */
export interface JobProbe {
  /** Place of the block among all blocks, 0 to 1. */
  readonly place: number;
  /** The bits that the block has, word by word. */
  readonly bits: Uint32Array;
}

export function probeOfJob(jobId: string): JobProbe {
  // Only values of other types have no hash.
  const hash = hashParquetValue(jobId, JOB_ID) as bigint;
  const bits = new Uint32Array(WORDS);
  sbbfInsert(bits, hash);
  return { place: Number(hash >> 32n) / 2 ** 32, bits };
}

/** Words of a block. */
const WORDS = 8;

/** Whether the row group may hold lines of one of the jobs. */
export function mayHoldJob(filter: Uint32Array | null, jobs: readonly JobProbe[]): boolean {
  if (filter === null) return false;
  const blocks = filter.length / WORDS;
  return jobs.some(({ place, bits }) => {
    const start = Math.floor(place * blocks) * WORDS;
    for (let word = 0; word < WORDS; word += 1) {
      if (((filter[start + word] ?? 0) & (bits[word] ?? 0)) === 0) return false;
    }
    return true;
  });
}
