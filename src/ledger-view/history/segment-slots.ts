import type { IndexMemory } from './index-memory.js';

/** Names of segments, each kept once for all of its lines and as long as the index holds one of them. */
export interface SegmentSlots {
  /** Whether another name has room. */
  hasRoom(): boolean;
  /** Keeps a name for a number of lines, at least one. Must have room. */
  add(name: string, lines: number): number;
  name(slot: number): string;
  /** One line less of a segment. */
  release(slot: number): void;
}

/** A name is a ULID and the name of a replica, of which there are few. */
const ULID_LENGTH = 26;
const ULID_NAME = /^[0-9A-HJKMNP-TV-Z]{26}-/;
const BYTES_PER_NAME = ULID_LENGTH + 8;

interface Chunk {
  readonly ulids: Buffer;
  readonly suffixes: Uint32Array;
  readonly lines: Uint32Array;
}

export function createSegmentSlots(chunkSize: number, memory: IndexMemory): SegmentSlots {
  const chunks: Chunk[] = [];
  const free: number[] = [];
  /** Suffixes of our names, and names that are not ours as a whole. */
  const suffixes: string[] = [];
  const suffixNumbers = new Map<string, number>();
  let used = 0;

  const chunkOf = (slot: number): Chunk => chunks[Math.floor(slot / chunkSize)] as Chunk;

  function grow(): boolean {
    if (!memory.reserve(chunkSize * BYTES_PER_NAME)) return false;
    chunks.push({
      ulids: Buffer.alloc(chunkSize * ULID_LENGTH),
      suffixes: new Uint32Array(chunkSize),
      lines: new Uint32Array(chunkSize),
    });
    return true;
  }

  function suffixNumber(suffix: string): number {
    const known = suffixNumbers.get(suffix);
    if (known !== undefined) return known;
    suffixNumbers.set(suffix, suffixes.push(suffix) - 1);
    return suffixes.length - 1;
  }

  return {
    hasRoom: () => free.length > 0 || used < chunks.length * chunkSize || grow(),
    add(name, lines) {
      const slot = free.pop() ?? used++;
      const chunk = chunkOf(slot);
      const place = slot % chunkSize;
      const isOurs = ULID_NAME.test(name);
      chunk.ulids.fill(0, place * ULID_LENGTH, (place + 1) * ULID_LENGTH);
      if (isOurs) chunk.ulids.write(name.slice(0, ULID_LENGTH), place * ULID_LENGTH, 'latin1');
      chunk.suffixes[place] = suffixNumber(isOurs ? name.slice(ULID_LENGTH) : name);
      chunk.lines[place] = lines;
      return slot;
    },
    name(slot) {
      const chunk = chunkOf(slot);
      const place = slot % chunkSize;
      const suffix = suffixes[chunk.suffixes[place] ?? 0] ?? '';
      const begin = place * ULID_LENGTH;
      if (chunk.ulids[begin] === 0) return suffix;
      return chunk.ulids.toString('latin1', begin, begin + ULID_LENGTH) + suffix;
    },
    release(slot) {
      const chunk = chunkOf(slot);
      const place = slot % chunkSize;
      const rest = (chunk.lines[place] ?? 1) - 1;
      chunk.lines[place] = rest;
      if (rest === 0) free.push(slot);
    },
  };
}
