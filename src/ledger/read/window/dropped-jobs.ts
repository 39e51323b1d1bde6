import { crc32 } from 'node:zlib';
import { HOUR } from '../../hours.js';
import type { LedgerRow } from './ledger-row.js';

/** When the lines of jobs that the window no longer holds were written: a search for a job reads the segments of these instants only. */
export interface DroppedJobs {
  /** Bytes of memory. */
  readonly bytes: number;
  /** The lines that were added and written from this instant on are known; -Infinity: all. */
  readonly since: number;
  add(row: Pick<LedgerRow, 'job' | 'written'>): void;
  /** Instants at which lines of a job were written, and hardly others, in any order. */
  instantsOf(job: string): number[];
}

/** Lines that are forgotten together. */
const BLOCK_LINES = 512;
/** Of a hash and the milliseconds since the first line. */
const BLOCK_BYTES = BLOCK_LINES * 8;
/** Milliseconds. Older hours are compacted, and found by their bloom filters. */
const KEPT = 2 * HOUR;

interface Block {
  readonly hashes: Uint32Array;
  readonly times: Int32Array;
  readonly begin: number;
  /** The newest of its instants. */
  last: number;
  count: number;
}

/** @param maxBytes the oldest lines are forgotten beyond it */
export function createDroppedJobs(maxBytes: number): DroppedJobs {
  const blocks: Block[] = [];
  let since = Number.NEGATIVE_INFINITY;

  function blockFor(written: number): Block | null {
    const last = blocks.at(-1);
    if (last !== undefined && last.count < BLOCK_LINES) return last;
    forget(written - KEPT);
    if (BLOCK_BYTES > maxBytes) return null;
    const [hashes, times] = [new Uint32Array(BLOCK_LINES), new Int32Array(BLOCK_LINES)];
    const block = { hashes, times, begin: written, last: written, count: 0 };
    blocks.push(block);
    return block;
  }

  function forget(before: number): void {
    for (let [first] = blocks; first !== undefined; [first] = blocks) {
      const isFull = (blocks.length + 1) * BLOCK_BYTES > maxBytes;
      if (!isFull && first.last >= before) return;
      since = Math.max(since, first.last + 1);
      blocks.shift();
    }
  }

  return {
    get bytes() {
      return blocks.length * BLOCK_BYTES;
    },
    get since() {
      return since;
    },
    add({ job, written }) {
      if (job === null) return;
      const block = blockFor(written);
      if (block === null) {
        since = Math.max(since, written + 1);
        return;
      }
      block.hashes[block.count] = crc32(job);
      block.times[block.count] = written - block.begin;
      block.last = Math.max(block.last, written);
      block.count += 1;
    },
    instantsOf(job) {
      const hash = crc32(job);
      const found = new Set<number>();
      for (const { hashes, times, begin, count } of blocks) {
        for (
          let index = hashes.indexOf(hash);
          index >= 0 && index < count;
          index = hashes.indexOf(hash, index + 1)
        )
          found.add(begin + (times[index] ?? 0));
      }
      return [...found];
    },
  };
}
