import { setImmediate as immediate } from 'node:timers/promises';
import type { LedgerLine } from '../../domain/delivery.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import {
  createSegmentWriter,
  type LedgerFault,
  type SegmentInfo,
  type SegmentLine,
} from './segment-writer.js';

/** The append-only record of everything that happened (docs/ledger.md). */
export interface Ledger {
  /**
   * Settles when the segment that holds the line is durable. Rejects with `StoreError` when that segment could not be
   * written or too many lines wait already. The line may then still be in the ledger, when only the store's response
   * was lost: readers must tolerate a line whose writer reported a failure.
   */
  append(line: LedgerLine): Promise<void>;

  /**
   * Why a line would not be written now, for people, and what it says of the store; null when nothing is known against it: it is closed,
   * a write hangs, or the last writes failed.
   */
  fault(): LedgerFault | null;

  /** Keys of the last segments that this process wrote, of each hour and name: a listing that lacks one is not whole. */
  written(): readonly string[];

  /** Rejects further lines and writes the waiting ones. Idempotent; never throws: `append` rejects with the failures. */
  close(): Promise<void>;
}

export interface LedgerOptions {
  readonly store: ObjectStore;
  /** Name of this replica; part of the segment names. */
  readonly replica: string;
  /** Each is called with every segment that became durable. Further ones may be added later. */
  readonly onSegment?: readonly ((info: SegmentInfo) => void)[] | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** Largest segment in bytes; only a single longer line exceeds it. Default 1 MiB. */
  readonly maxSegmentBytes?: number;
  /** Upper bound of waiting lines; beyond it `append` rejects. Default 10,000. */
  readonly maxWaitingLines?: number;
  /**
   * Milliseconds that the line of a callback may wait for further ones. Lines of other origins never do: recoveries and
   * operators' acts come one after the other, and each would wait. Default 0.
   */
  readonly maxLinger?: number;
  /** Lines that end such a wait. Default 24. */
  readonly fullSegment?: number;
  /** Milliseconds after which the outcome of a write counts as unknown. Default two minutes. */
  readonly writeDeadline?: number;
}

/** Hours and names of the writer whose last segment is remembered: an hour can be listed until it is whole. */
const REMEMBERED_RUNS = 8;

interface WaitingLine extends SegmentLine {
  /** When it should be written at the latest, in milliseconds of `performance.now`. */
  readonly dueAt: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Bytes of waiting lines; beyond it `append` rejects. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/**
 * Group commit: while one flush is being written, the lines of the next one queue, so that a busy replica pays a small
 * fraction of a store write per line. Only one flush is in flight. With two, each would hold half the lines and the
 * writes per callback would double, to shorten the wait by no more than a quarter of a write.
 */
export function createLedger(options: LedgerOptions): Ledger {
  const { onSegment = [], clock = Date.now } = options;
  const maxWaitingLines = options.maxWaitingLines ?? 10_000;
  const maxLinger = options.maxLinger ?? 0;
  const writer = createSegmentWriter({ ...options, clock, deadline: options.writeDeadline });
  const fullSegment = maxLinger > 0 ? (options.fullSegment ?? 0) : null;
  const queue = createLineQueue(options.maxSegmentBytes ?? 1024 * 1024, fullSegment);
  /** By their keys up to the number. */
  const written = new Map<string, string>();
  let writing: Promise<void> | null = null;
  let closed = false;

  async function write(lines: readonly WaitingLine[]): Promise<void> {
    try {
      const info = await writer.write(lines);
      for (const line of lines) line.resolve();
      noteWritten(info.key);
      for (const report of onSegment) report(info);
    } catch (error) {
      for (const line of lines) line.reject(error);
    }
  }

  function noteWritten(key: string): void {
    written.set(key.slice(0, key.lastIndexOf('~')), key);
    const [oldest] = written.keys();
    if (written.size > REMEMBERED_RUNS && oldest !== undefined) written.delete(oldest);
  }

  async function flushAll(): Promise<void> {
    // Lines of one turn of the event loop belong together, also on an idle replica.
    await immediate();
    while (queue.lines() > 0) {
      if (!closed) await queue.gathered();
      const started = performance.now();
      const batch = queue.take();
      await write(batch);
      queue.wrote(batch.length, performance.now() - started);
    }
  }

  function wake(): void {
    writing ??= flushAll().finally(() => {
      writing = null;
      if (queue.lines() > 0) wake();
    });
  }

  return {
    append(line) {
      return new Promise((resolve, reject) => {
        if (closed) throw new StoreError('ledger', 'the ledger is closed');
        if (queue.lines() >= maxWaitingLines || queue.bytes() >= MAX_WAITING_BYTES) {
          throw new StoreError('ledger', `${queue.lines()} lines wait already for the store`);
        }
        const text = JSON.stringify(line);
        const dueAt = performance.now() + (line.origin === 'callback' ? maxLinger : 0);
        queue.add({ text, bytes: Buffer.byteLength(text) + 1, dueAt, resolve, reject });
        wake();
      });
    },

    fault() {
      if (closed) return { reason: 'the ledger is closed', condition: null, at: performance.now() };
      return writer.fault();
    },

    written: () => [...written.values()],

    async close() {
      closed = true;
      queue.endWait();
      while (writing !== null) await writing;
    },
  };
}

/**
 * Lines that fill a segment well enough: the ledger then costs about 4 % of a store write per line, and more lines save
 * little. 24 is half of 48 concurrent deliveries, for which the goal is 1.05 writes per delivery: while one half is being
 * written, the other half arrives.
 */
const WELL_FILLED = 24;
/** Longest pause under load, in milliseconds. */
const LONGEST_PAUSE = 20;
/** A timer takes a millisecond at least: shorter pauses than half of that are left out. */
const SHORTEST_PAUSE = 0.5;
/** Lines in the last and the next flush together, below which the replica counts as idle. */
const BUSY = 4;

/**
 * Lines in order of arrival, and how long a segment waits for further ones: until its first line is due and, under load, up to a third of
 * the time of a write. That pause fills segments by a third more and costs no throughput, because callers that would just miss this
 * segment no longer wait for a whole further one. Unless the configuration lets lines linger, a line is due when it arrives, so that a
 * lone delivery never waits.
 *
 * @param maxBytes of a segment
 * @param fullSegment where lines wait on an idle replica, too (`ledger.maxLinger`): lines at which a segment is written at once, at least
 *   `WELL_FILLED`; null: lines do not linger
 */
export function createLineQueue(maxBytes: number, fullSegment: number | null) {
  const full = Math.max(WELL_FILLED, fullSegment ?? 0);
  let waiting: WaitingLine[] = [];
  let waitingBytes = 0;
  let firstDue = Number.POSITIVE_INFINITY;
  let typicalWrite = 0;
  let lastLines = 0;
  let endWait = () => {};

  function linger(milliseconds: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => endWait(), milliseconds);
      endWait = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return {
    lines: () => waiting.length,
    bytes: () => waitingBytes,
    add(line: WaitingLine): void {
      waiting.push(line);
      waitingBytes += line.bytes;
      firstDue = Math.min(firstDue, line.dueAt);
      const isDue = fullSegment !== null && firstDue <= performance.now();
      if (waiting.length >= full || isDue) endWait();
    },
    /** Settles when the next segment should be written. */
    async gathered(): Promise<void> {
      if (waiting.length >= full) return;
      const isBusy = lastLines + waiting.length >= BUSY;
      const pause = isBusy ? Math.min(LONGEST_PAUSE, typicalWrite / 3) : 0;
      const milliseconds = Math.max(pause, firstDue - performance.now());
      if (milliseconds >= SHORTEST_PAUSE) await linger(milliseconds);
    },
    /** Ends a wait at once: the ledger is being closed. */
    endWait: () => endWait(),
    /** Removes the first lines that fit one segment, at least one. */
    take(): readonly WaitingLine[] {
      let count = 0;
      let bytes = 0;
      for (const line of waiting) {
        if (count > 0 && bytes + line.bytes > maxBytes) break;
        bytes += line.bytes;
        count += 1;
      }
      const batch = waiting.slice(0, count);
      waiting = waiting.slice(count);
      waitingBytes -= bytes;
      firstDue = waiting.reduce((first, { dueAt }) => Math.min(first, dueAt), Number.POSITIVE_INFINITY);
      return batch;
    },
    /** To be called after each write. */
    wrote(lines: number, milliseconds: number): void {
      lastLines = lines;
      typicalWrite = typicalWrite === 0 ? milliseconds : typicalWrite * 0.8 + milliseconds * 0.2;
    },
  };
}
