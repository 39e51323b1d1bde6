import { setTimeout as sleep } from 'node:timers/promises';
import type { SentAttempt } from '../../domain/sent-attempt.js';
import { createSegmentWriter } from '../../ledger/write/segment-writer.js';
import type { ObjectStore } from '../../store/object-store.js';

export type SentLog = ReturnType<typeof createSentLog>;

export interface SentLogOptions {
  readonly store: ObjectStore;
  readonly subscriber: string;
  /** Name of this replica. */
  readonly replica: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds between two segments, and until an attempt is written. */
  readonly interval: number;
  /** Milliseconds from a failed try to the next one. Default 30 s. */
  readonly retry?: number;
  /** Called when writing begins to fail. */
  readonly onError: (error: unknown) => void;
}

/** Records that wait for the store. Beyond it the oldest are lost: whether their events were sent is then unknown. */
const MOST_WAITING = 10_000;
/** Milliseconds: the position of the sender waits for the segment, and must not lose its lease. */
const DEADLINE = 5_000;
const RETRY = 30_000;

/** Writes the attempts of this process to one subscriber as segments below `outbox/<subscriber>/sent/`. */
export function createSentLog(options: SentLogOptions) {
  const { interval, retry = RETRY, onError } = options;
  const writer = createSegmentWriter({ ...options, deadline: DEADLINE });
  let waiting: string[] = [];
  let flushing: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let begunAt = Number.NEGATIVE_INFINITY;
  let isFailing = false;

  async function write(): Promise<void> {
    // A timer may fire early, because it counts from the start of its turn of the event loop.
    while (performance.now() < begunAt + interval)
      await sleep(Math.max(0, begunAt + interval - performance.now()));
    begunAt = performance.now();
    const batch = waiting;
    waiting = [];
    try {
      await writer.write(batch.map((text) => ({ text, bytes: Buffer.byteLength(text) + 1 })));
      isFailing = false;
    } catch (error) {
      waiting = [...batch, ...waiting].slice(-MOST_WAITING);
      if (!isFailing) onError(error);
      isFailing = true;
    }
  }

  async function flush(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    // Attempts recorded during a write go with the next one.
    while (flushing !== null) await flushing;
    if (waiting.length === 0) return;
    if (isFailing && performance.now() - begunAt < retry) return schedule(retry);
    flushing = write().finally(() => {
      flushing = null;
    });
    await flushing;
    if (waiting.length > 0) schedule(isFailing ? retry : interval);
  }

  function schedule(pause: number): void {
    timer ??= setTimeout(() => void flush(), pause).unref();
  }

  return {
    /** Queues the attempt for the next segment. Never throws. */
    record(attempt: Omit<SentAttempt, 'v'>): void {
      waiting.push(JSON.stringify({ v: 1, ...attempt } satisfies SentAttempt));
      if (waiting.length > MOST_WAITING) waiting.shift();
      schedule(interval);
    },
    /**
     * Settles when everything recorded is durable, or could not be written and is kept for a retry. Never rejects. After a failure the next
     * attempt waits for `retry`.
     */
    flush,
  };
}
