import type { BudgetLease, LeaseOptions } from './budget-lease.js';
import { FairBudget } from './fair-budget.js';

/**
 * The process-wide byte budget. Every buffer that holds a delivery's bytes is taken from it, so memory use is bounded for
 * any number and size of uploads. The reasons: docs/decisions/byte-budget.md.
 *
 * - **Small share.** A quarter is reserved for bodies up to `smallBody`. Larger bodies never use it. Small bodies also use free
 *   memory outside it, unless large ones wait for that. A body of unknown size counts as small until it exceeds `smallBody`.
 * - **Queues.** Each share has one queue, the oldest delivery first.
 * - **Whole parts.** A large delivery gets its first chunk ahead of the queue. Beyond that it gets memory only as far as older ones
 *   can fill their parts: memory that is spread over many unfinished parts could not be flushed.
 * - **Reserves.** Each share sets bytes aside for the head of its queue: the most that a delivery needs before it can
 *   flush its memory to the store (a part, or a small body). So the head always progresses, and deadlock is impossible.
 *   Callers contribute: before they wait they flush what they can (`archive/archive.ts`).
 * - **Fill rate.** Once deliveries have waited for a second, slow ones are refused until what the others wait for is free: those that
 *   are silent for 3 s, or fill their memory too slowly to flush it in time (30 s for a part, 10 s for a small body).
 * - **First byte.** A wait for the first byte of memory ends after `firstByteTimeout`.
 *
 * `test/unit/memory/byte-budget.test.ts` proves each rule.
 */
export interface ByteBudget {
  readonly total: number;
  readonly used: number;
  /** Leases that wait for bytes right now. */
  readonly waiters: number;
  /** The length of the queue that a delivery of that size would join; null for an unknown size. */
  waitersFor(expected: number | null): number;
  lease(options?: LeaseOptions): BudgetLease;
  /** Runs a few times a second while leases wait. Times out waits and refuses slow deliveries. */
  checkWaiters(): void;
}

export interface BudgetOptions {
  /** Bytes in total, reserves included. */
  readonly total: number;
  /** Bytes set aside for the oldest waiting delivery; the size of one part. */
  readonly reserve: number;
  /** Milliseconds. Default `performance.now`. */
  readonly now?: () => number;
}

export function createByteBudget(options: BudgetOptions): ByteBudget {
  if (options.total < options.reserve * 2) {
    throw new RangeError(
      `a budget of ${options.total} bytes cannot hold two parts of ${options.reserve} bytes`,
    );
  }
  return new FairBudget(options.total, options.reserve, options.now ?? (() => performance.now()));
}
