import { setImmediate as immediate } from 'node:timers/promises';
import type { LedgerLine } from '../../domain/delivery.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { createLineQueue, type QueuedLine } from './line-queue.js';
import { createSegmentWriter, type LedgerFault, type SegmentInfo } from './segment-writer.js';

export type Ledger = ReturnType<typeof createLedger>;

export interface LedgerOptions {
  readonly store: ObjectStore;
  /** Name of this replica; part of the segment names. */
  readonly replica: string;
  /** Listeners that are called with every durable segment. More may be added later. */
  readonly onSegment?: readonly ((info: SegmentInfo) => void)[] | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly clock?: () => number;
  /** Largest segment in bytes; only a single longer line exceeds it. Default 1 MiB. */
  readonly maxSegmentBytes?: number;
  /** Upper bound of waiting lines; beyond it `append` rejects. Default 10,000. */
  readonly maxWaitingLines?: number;
  /**
   * Milliseconds that the line of a callback may wait for further ones. Lines of other origins never wait: recoveries and
   * operators' actions come one after the other, and would be delayed each time. Default 0.
   */
  readonly maxLinger?: number;
  /** Number of lines that ends this wait. Default 24. */
  readonly fullSegment?: number;
  /** Milliseconds after which the outcome of a write counts as unknown. Default two minutes. */
  readonly writeDeadline?: number;
  /** Called before each segment until it has resolved once. Rejects with `StoreError` while the store must not be written to. */
  readonly admit?: () => Promise<void>;
}

/** Pairs of hour and writer name whose last segment is remembered, as long as their hours are listed. */
const REMEMBERED_RUNS = 8;

interface WaitingLine extends QueuedLine {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Bytes of waiting lines; beyond it `append` rejects. */
const MAX_WAITING_BYTES = 32 * 1024 * 1024;

/**
 * The append-only record of everything that happened (docs/ledger.md).
 *
 * Group commit: while one flush is being written, the lines of the next one queue, so that a busy replica pays a small
 * fraction of a store write per line. Only one flush is in flight. With two, each would hold half the lines and the
 * writes per callback would double, to shorten the wait by no more than a quarter of a write.
 */
export function createLedger(options: LedgerOptions) {
  const { onSegment = [], clock = Date.now } = options;
  const maxWaitingLines = options.maxWaitingLines ?? 10_000;
  const maxLinger = options.maxLinger ?? 0;
  const writer = createSegmentWriter({ ...options, clock, deadline: options.writeDeadline });
  const fullSegment = maxLinger > 0 ? (options.fullSegment ?? 0) : null;
  const queue = createLineQueue<WaitingLine>(options.maxSegmentBytes ?? 1024 * 1024, fullSegment);
  /** Keys of the last segments, by the key without its number. */
  const lastSegments = new Map<string, string>();
  let writing: Promise<void> | null = null;
  let closed = false;
  let { admit } = options;

  async function write(lines: readonly WaitingLine[]): Promise<void> {
    try {
      await admit?.();
      admit = undefined;
      const info = await writer.write(lines);
      for (const line of lines) line.resolve();
      noteWritten(info.key);
      for (const report of onSegment) report(info);
    } catch (error) {
      for (const line of lines) line.reject(error);
    }
  }

  function noteWritten(key: string): void {
    lastSegments.set(key.slice(0, key.lastIndexOf('~')), key);
    const [oldest] = lastSegments.keys();
    if (lastSegments.size > REMEMBERED_RUNS && oldest !== undefined) lastSegments.delete(oldest);
  }

  async function flushAll(): Promise<void> {
    // Lines of one turn of the event loop are written together, also on an idle replica.
    await immediate();
    while (queue.lines() > 0) {
      if (!closed) await queue.untilReady();
      const started = performance.now();
      const batch = queue.take();
      await write(batch);
      queue.noteWrite(batch.length, performance.now() - started);
    }
  }

  function wake(): void {
    writing ??= flushAll().finally(() => {
      writing = null;
      if (queue.lines() > 0) wake();
    });
  }

  return {
    /**
     * Settles when the segment that holds the line is durable. Rejects with `StoreError` when that segment could not be
     * written or too many lines wait already. The line may then still be in the ledger, when only the store's response
     * was lost: readers must tolerate a line whose writer reported a failure.
     */
    append(line: LedgerLine): Promise<void> {
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

    /**
     * Why a line would probably not be written now: the ledger is closed, a write hangs, or the last writes failed. Null when no fault is
     * known.
     */
    fault(): LedgerFault | null {
      if (closed) return { reason: 'the ledger is closed', condition: null, at: performance.now() };
      return writer.fault();
    },

    /** Keys of the last segments that this process wrote, per hour and writer name. A listing that lacks one is incomplete. */
    lastSegments: () => [...lastSegments.values()],

    /** Rejects further lines and writes the waiting ones. Idempotent; never throws: `append` rejects with the failures. */
    async close(): Promise<void> {
      closed = true;
      queue.endWait();
      while (writing !== null) await writing;
    },
  };
}
