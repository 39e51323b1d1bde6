import { hashParquetValue, readBloomFilter, sbbfInsert } from 'hyparquet/src/bloom.js';
import { type ByteRange, checkOfBloom, type GroupChecks } from './file-checks.js';
import { type LedgerFooter, MAX_BLOOM_BYTES } from './ledger-footer.js';

const JOB_ID = { name: 'jobId', type: 'BYTE_ARRAY', converted_type: 'UTF8' } as const;

/** Bloom filters of the job ids of a file's row groups; null for a row group without jobs. */
export type JobBlooms = readonly (Uint32Array | null)[];

/** The bytes that hold all filters: the writer puts them one after the other. Null without filters. */
export function rangeOfBlooms(footer: LedgerFooter): ByteRange | null {
  const first = footer.groups.findIndex(hasBloom);
  if (first < 0) return null;
  const start = footer.describe(first).bloomRange?.start ?? Number.NaN;
  const end = footer.describe(footer.groups.findLastIndex(hasBloom)).bloomRange?.end ?? Number.NaN;
  const isPlausible = end > start && end - start <= footer.groups.length * MAX_BLOOM_BYTES;
  if (!isPlausible) throw new Error('its bloom filters are damaged');
  return { start, end };
}

const hasBloom = ({ bloom }: GroupChecks) => bloom !== null;

/**
 * Throws when a filter is damaged: it could hide lines of a job.
 *
 * @param bytes those of `rangeOfBlooms`
 */
export function parseBlooms(groups: readonly GroupChecks[], bytes: Buffer): JobBlooms {
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  return groups.map(({ bloom }, index) => {
    if (bloom === null) return null;
    const filter = readBloomFilter(reader);
    if (filter === undefined || checkOfBloom(filter.blocks) !== bloom) {
      throw new Error(`the bloom filter of row group ${index} is damaged`);
    }
    return filter.blocks;
  });
}

/** What of a filter a job is looked for in, and with what. Takes 10 microseconds to compute, hundreds of times a look. */
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
