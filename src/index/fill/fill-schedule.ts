import { writeInstant } from '../../lib/time/instant.js';
import { conditionOf } from '../../store/store-condition.js';
import type { StoreCondition } from '../../store/store-remedies.js';
import { IndexError } from '../index-error.js';
import type { IndexFiller } from './index-filler.js';

export interface FillStatus {
  /** ISO 8601: when the last successful read of new lines began; null before the first. */
  readonly refreshedAt: string | null;
  /** Why the last read failed; null when it succeeded. */
  readonly error: string | null;
  /** Whether the store failed, or the index, as on a full disk; null when `error` is null. */
  readonly fault: 'store' | 'index' | null;
  /** Condition of the whole store that `error` shows; null where it shows none. */
  readonly condition: StoreCondition | null;
}

const MINUTE = 60_000;
/** Milliseconds between reads of new lines, while the view is in use and otherwise. */
const FAST_INTERVAL = 2_000;
const SLOW_INTERVAL = 30_000;
/** Milliseconds that the view counts as in use after `touch`. */
const IN_USE = MINUTE;
/** Milliseconds beyond the interval after which a read is overdue. The store's own time-outs are shorter. */
const OVERDUE = MINUTE;

/** Schedules reads of new lines: often while the view is in use, rarely otherwise, because requests cost money. */
export class FillSchedule {
  readonly #filler: Pick<IndexFiller, 'addNew' | 'addOlder'>;
  readonly #clock: () => number;
  #running = false;
  #refreshedAt: string | null = null;
  // The following three are times of `performance.now`, because the machine's clock may be set back.
  #touchedAt = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  /** When the schedule was started, or the last successful read began. */
  #currentAt = Number.NEGATIVE_INFINITY;
  #isComplete = false;
  #failure: unknown = null;
  #filling: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Settles with the next read of new lines; null while no caller waits for one. */
  #requested: PromiseWithResolvers<void> | null = null;

  /** @param clock in milliseconds since the epoch */
  constructor(filler: Pick<IndexFiller, 'addNew' | 'addOlder'>, clock: () => number) {
    this.#filler = filler;
    this.#clock = clock;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#currentAt = performance.now();
    void this.untilComplete();
  }

  /** Ends the schedule. A read in flight ends when the index is closed. */
  async stop(): Promise<void> {
    this.#running = false;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#filling?.catch(() => undefined);
  }

  /** Reads new lines at the fast interval for the next minute. */
  touch(): void {
    const wasInUse = this.#isInUse();
    this.#touchedAt = performance.now();
    if (!wasInUse) this.#plan();
  }

  #isInUse(): boolean {
    return performance.now() - this.#touchedAt < IN_USE;
  }

  /** Resolves when the index has everything that was written before the call. Rejects with `StoreError` and `IndexError`. */
  refresh(): Promise<void> {
    this.#requested ??= Promise.withResolvers();
    const { promise } = this.#requested;
    this.#plan();
    return promise;
  }

  /** Resolves when the index is complete. Rejects as `refresh` does. */
  untilComplete(): Promise<void> {
    this.#filling ??= this.#fill();
    // `status` reports the failure.
    this.#filling.catch(() => undefined);
    return this.#filling;
  }

  /** Whether the index has been complete once. */
  isComplete(): boolean {
    return this.#isComplete;
  }

  status(): FillStatus {
    const failure = this.#failure;
    const silent = performance.now() - this.#currentAt;
    const isOverdue = this.#running && failure === null && silent >= SLOW_INTERVAL + OVERDUE;
    const refreshedAt = this.#refreshedAt;
    if (isOverdue) {
      const error = `it was not read for ${Math.round(silent / 1000)} s`;
      return { refreshedAt, error, fault: 'store', condition: this.#filling === null ? null : 'unreachable' };
    }
    if (failure === null) return { refreshedAt, error: null, fault: null, condition: null };
    return {
      refreshedAt,
      error: failure instanceof Error ? failure.message : 'it could not be read',
      fault: failure instanceof IndexError ? 'index' : 'store',
      condition: conditionOf(failure),
    };
  }

  #interval(): number {
    return this.#isInUse() ? FAST_INTERVAL : SLOW_INTERVAL;
  }

  async #fill(): Promise<void> {
    try {
      await this.#readNew();
      for await (const _step of this.#filler.addOlder())
        if (this.#requested !== null || performance.now() - this.#readAt >= this.#interval())
          await this.#readNew();
      this.#isComplete = true;
    } catch (cause) {
      this.#failure = cause;
      throw cause;
    } finally {
      this.#filling = null;
      this.#plan();
    }
  }

  async #readNew(): Promise<void> {
    const beganAt = this.#clock();
    const readAt = performance.now();
    this.#readAt = readAt;
    const answered = this.#requested;
    this.#requested = null;
    try {
      await this.#filler.addNew();
    } catch (cause) {
      answered?.reject(cause);
      throw cause;
    }
    this.#refreshedAt = writeInstant(beganAt);
    this.#currentAt = readAt;
    this.#failure = null;
    answered?.resolve();
  }

  #plan(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#filling !== null) return;
    if (this.#requested !== null) void this.untilComplete();
    else if (this.#running) {
      const due = Math.max(0, this.#readAt + this.#interval() - performance.now());
      this.#timer = setTimeout(() => void this.untilComplete(), Math.min(this.#interval(), due)).unref();
    }
  }
}
