import type { IndexMemory } from './index-memory.js';
import { createSegmentSlots } from './segment-slots.js';

/** A line as the index holds it. */
export interface IndexedLine {
  /** Milliseconds since the beginning of the hour. */
  readonly time: number;
  /** Index of the line among the readable ones of its segment. */
  readonly number: number;
  /** Number of the line's combination of filter values. */
  readonly code: number;
  /** Hash of the job's id. */
  readonly job: number;
}

/** Where a line lies. */
export interface LinePlace {
  readonly time: number;
  readonly segment: string;
  readonly number: number;
}

/**
 * The lines of one hour in some 20 bytes each, as chains of entries: one chain for each second of receipt. Entries of
 * lines that were dropped are used again.
 */
export interface LineIndex {
  readonly size: number;
  /** Lines that can still be added. */
  room(): number;
  /** Adds lines of a segment, at least one: all of them, or none and returns false where there is no room. */
  add(segment: string, lines: readonly IndexedLine[]): boolean;
  /** The matching lines of one second, newest first. */
  second(second: number, matches: (code: number, job: number) => boolean): LinePlace[];
  /** Times of all lines, in no order. */
  times(): Uint32Array;
  /** Drops the lines received before `from` or after `to`. */
  keep(from: number, to: number): void;
}

export interface LineIndexOptions {
  readonly memory: IndexMemory;
  /** Lines by which the index grows. Default 16,384. */
  readonly chunk?: number | undefined;
}

const SECONDS = 3600;
const NONE = -1;
const BYTES_PER_LINE = 20;

interface Chunk {
  readonly next: Int32Array;
  readonly slot: Uint32Array;
  readonly job: Uint32Array;
  readonly number: Uint32Array;
  readonly millisecond: Uint16Array;
  readonly code: Uint16Array;
}

export function createLineIndex({ memory, chunk: chunkSize = 16_384 }: LineIndexOptions): LineIndex {
  const heads = new Int32Array(SECONDS).fill(NONE);
  const chunks: Chunk[] = [];
  const slots = createSegmentSlots(Math.max(1, chunkSize >> 2), memory);
  let used = 0;
  let free = NONE;
  let size = 0;

  const chunkOf = (entry: number): Chunk => chunks[Math.floor(entry / chunkSize)] as Chunk;

  function grow(): boolean {
    if (!memory.reserve(chunkSize * BYTES_PER_LINE)) return false;
    chunks.push({
      next: new Int32Array(chunkSize),
      slot: new Uint32Array(chunkSize),
      job: new Uint32Array(chunkSize),
      number: new Uint32Array(chunkSize),
      millisecond: new Uint16Array(chunkSize),
      code: new Uint16Array(chunkSize),
    });
    return true;
  }

  function hasRoom(lines: number): boolean {
    while (chunks.length * chunkSize - size < lines) if (!grow()) return false;
    return slots.hasRoom();
  }

  /** An unused entry. There is one: `hasRoom` was called. */
  function take(): number {
    if (free === NONE) return used++;
    const entry = free;
    free = chunkOf(entry).next[entry % chunkSize] ?? NONE;
    return entry;
  }

  function* chain(second: number): Generator<{ entry: number; chunk: Chunk; place: number; time: number }> {
    for (let entry = heads[second] ?? NONE; entry !== NONE; ) {
      const chunk = chunkOf(entry);
      const place = entry % chunkSize;
      const next = chunk.next[place] ?? NONE;
      yield { entry, chunk, place, time: second * 1000 + (chunk.millisecond[place] ?? 0) };
      entry = next;
    }
  }

  function prune(second: number, from: number, to: number): void {
    let kept = NONE;
    for (const { entry, chunk, place, time } of chain(second)) {
      const stays = time >= from && time <= to;
      chunk.next[place] = stays ? kept : free;
      if (stays) kept = entry;
      else {
        free = entry;
        size -= 1;
        slots.release(chunk.slot[place] ?? 0);
      }
    }
    heads[second] = kept;
  }

  return {
    get size() {
      return size;
    },
    room: () => chunks.length * chunkSize - size + Math.floor(memory.available() / BYTES_PER_LINE),
    add(segment, lines) {
      if (!hasRoom(lines.length)) return false;
      const slot = slots.add(segment, lines.length);
      for (const { time, number, code, job } of lines) {
        const entry = take();
        const chunk = chunkOf(entry);
        const place = entry % chunkSize;
        const second = Math.floor(time / 1000);
        chunk.next[place] = heads[second] ?? NONE;
        chunk.slot[place] = slot;
        chunk.job[place] = job;
        chunk.number[place] = number;
        chunk.millisecond[place] = time % 1000;
        chunk.code[place] = code;
        heads[second] = entry;
      }
      size += lines.length;
      return true;
    },
    second(second, matches) {
      const found: { time: number; slot: number; number: number }[] = [];
      // No generator: a search for a rare line visits every entry of the hour.
      for (let entry = heads[second] ?? NONE; entry !== NONE; ) {
        const chunk = chunkOf(entry);
        const place = entry % chunkSize;
        if (matches(chunk.code[place] ?? 0, chunk.job[place] ?? 0)) {
          const time = second * 1000 + (chunk.millisecond[place] ?? 0);
          found.push({ time, slot: chunk.slot[place] ?? 0, number: chunk.number[place] ?? 0 });
        }
        entry = chunk.next[place] ?? NONE;
      }
      found.sort((a, b) => b.time - a.time);
      return found.map(({ time, slot, number }) => ({ time, segment: slots.name(slot), number }));
    },
    times() {
      const times = new Uint32Array(size);
      let count = 0;
      for (let second = 0; second < SECONDS; second += 1) {
        for (const { time } of chain(second)) times[count++] = time;
      }
      return times;
    },
    keep(from, to) {
      for (let second = 0; second < SECONDS; second += 1) {
        if (second * 1000 < from || second * 1000 + 999 > to) prune(second, from, to);
      }
    },
  };
}
