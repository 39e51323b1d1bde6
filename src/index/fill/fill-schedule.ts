import { conditionOf } from '../../store/store-condition.js';
import type { StoreCondition } from '../../store/store-remedies.js';
import { IndexError } from '../index-error.js';
import type { IndexFiller } from './index-filler.js';

interface FillStatus {
  /** When the last successful read of what is new began, in milliseconds since the epoch; null before the first. */
  readonly refreshedAt: number | null;
  /** Whether everything that the index is to have was in once. */
  readonly isWhole: boolean;
  /** Why the last read failed; null when it did not. */
  readonly error: string | null;
  /** What failed: a call of the store, or of the index, such as on a full disk; null when `error` is. */
  readonly fault: 'store' | 'index' | null;
  /** What `error` says of the whole store; null where it does not say. */
  readonly condition: StoreCondition | null;
}

const MINUTE = 60_000;
/** Milliseconds between reads of what is new while somebody looks, and otherwise. */
const FAST_INTERVAL = 2_000;
const SLOW_INTERVAL = 30_000;
/** Somebody looks for this long after a touch. */
const IN_USE = MINUTE;
/** Milliseconds beyond the interval after which a read is overdue. The store's own time-outs are shorter. */
const OVERDUE = MINUTE;

/** When to ask the store for what is new: often while somebody looks, rarely otherwise, because requests cost money. */
export class FillSchedule {
  readonly #filler: Pick<IndexFiller, 'takeNew' | 'older'>;
  readonly #clock: () => number;
  #running = false;
  #refreshedAt: number | null = null;
  // These three by `performance.now`: the machine's clock may be set back.
  #touchedAt = Number.NEGATIVE_INFINITY;
  #readAt = Number.NEGATIVE_INFINITY;
  /** When the schedule was started, or the last successful read began. */
  #currentAt = Number.NEGATIVE_INFINITY;
  #isWhole = false;
  #failure: unknown = null;
  #filling: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Settles with the next read of what is new; null while nobody waits for one. */
  #asked: PromiseWithResolvers<void> | null = null;

  /** @param clock in milliseconds since the epoch */
  constructor(filler: Pick<IndexFiller, 'takeNew' | 'older'>, clock: () => number) {
    this.#filler = filler;
    this.#clock = clock;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#currentAt = performance.now();
    void this.whole();
  }

  /** Ends the schedule; a read that is under way ends when the index is closed. */
  async stop(): Promise<void> {
    this.#running = false;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#filling?.catch(() => undefined);
  }

  /** Somebody looks: what is new is asked for at the fast interval for the next minute. */
  touch(): void {
    const wasLookedAt = this.#isLookedAt();
    this.#touchedAt = performance.now();
    if (!wasLookedAt) this.#plan();
  }

  /** Whether somebody did within the last minute. */
  #isLookedAt(): boolean {
    return performance.now() - this.#touchedAt < IN_USE;
  }

  /** Takes what was written before the call. Rejects with `StoreError` and `IndexError`. */
  refresh(): Promise<void> {
    this.#asked ??= Promise.withResolvers();
    const { promise } = this.#asked;
    this.#plan();
    return promise;
  }

  /** Settles when everything that the index is to have is in. Rejects as `refresh` does. */
  whole(): Promise<void> {
    this.#filling ??= this.#fill();
    // `status` says why it failed.
    this.#filling.catch(() => undefined);
    return this.#filling;
  }

  status(): FillStatus {
    const failure = this.#failure;
    const silent = performance.now() - this.#currentAt;
    const isOverdue = this.#running && failure === null && silent >= SLOW_INTERVAL + OVERDUE;
    const read = { refreshedAt: this.#refreshedAt, isWhole: this.#isWhole };
    if (isOverdue) {
      const error = `it was not read for ${Math.round(silent / 1000)} s`;
      return { ...read, error, fault: 'store', condition: this.#filling === null ? null : 'unreachable' };
    }
    if (failure === null) return { ...read, error: null, fault: null, condition: null };
    return {
      ...read,
      error: failure instanceof Error ? failure.message : 'it could not be read',
      fault: failure instanceof IndexError ? 'index' : 'store',
      condition: conditionOf(failure),
    };
  }

  #interval(): number {
    return this.#isLookedAt() ? FAST_INTERVAL : SLOW_INTERVAL;
  }

  async #fill(): Promise<void> {
    try {
      await this.#readNew();
      for await (const _step of this.#filler.older())
        if (this.#asked !== null || performance.now() - this.#readAt >= this.#interval())
          await this.#readNew();
      this.#isWhole = true;
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
    const answered = this.#asked;
    this.#asked = null;
    try {
      await this.#filler.takeNew();
    } catch (cause) {
      answered?.reject(cause);
      throw cause;
    }
    this.#refreshedAt = beganAt;
    this.#currentAt = readAt;
    this.#failure = null;
    answered?.resolve();
  }

  #plan(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#filling !== null) return;
    if (this.#asked !== null) void this.whole();
    else if (this.#running) {
      const due = Math.max(0, this.#readAt + this.#interval() - performance.now());
      this.#timer = setTimeout(() => void this.whole(), Math.min(this.#interval(), due)).unref();
    }
  }
}
