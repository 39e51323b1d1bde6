import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplayItemResult } from './replay-state.js';

/** An item that was worked on. */
export interface WorkedItem {
  readonly index: number;
  readonly result: ReplayItemResult;
}

/** Failures in a row, all for one reason, that make an outage. */
const OUTAGE_AFTER = 5;
/** Milliseconds between two checks whether another worker's trial has ended the outage. */
const TRIAL_POLL = 100;
const MAX_PAUSE = 60_000;

/**
 * Tells failures of single jobs from an outage. Failures in a row whose reasons differ only in the job's id are held
 * back. Five of them are an outage: the key is refused, or the service is down, and going on would only use up the list.
 * They are worked on again then. A different result in between settles them as failures of their own.
 *
 * During an outage one item is tried at a time, after a pause that doubles up to a minute.
 */
export class ReplayOutage {
  /** Milliseconds before the first trial. */
  readonly #firstPause: number;
  #held: WorkedItem[] = [];
  #reason: string | null = null;
  #out = false;
  #trying = false;
  #trials = 0;

  constructor(firstPause: number) {
    this.#firstPause = firstPause;
  }

  /** Why every item fails; null while there is no outage. */
  get cause(): string | null {
    return this.#out ? this.#reason : null;
  }

  /** Whether a worker may begin an item now. Resolves to false after a wait: the worker has to ask again. */
  async admits(signal: AbortSignal): Promise<boolean> {
    if (!this.#out) {
      this.#trials = 0;
      return true;
    }
    if (this.#trying) {
      await pause(TRIAL_POLL, signal);
      return false;
    }
    this.#trying = true;
    await pause(Math.min(this.#firstPause * 2 ** Math.min(this.#trials, 16), MAX_PAUSE), signal);
    this.#trials += 1;
    return true;
  }

  /** Ends a trial, if there is one: another worker may begin the next. */
  endTrial(): void {
    this.#trying = false;
  }

  /** Takes a result. Returns the results that count by now, and the items that have to be worked on again. */
  add(item: WorkedItem): { readonly settled: readonly WorkedItem[]; readonly again: readonly number[] } {
    const { outcome, reason, jobId } = item.result;
    if (outcome !== 'failed' || reason === null) return { settled: [...this.flush(), item], again: [] };
    const cause = withoutJobId(reason, jobId);
    if (cause !== this.#reason) {
      const settled = this.flush();
      this.#reason = cause;
      this.#held = [item];
      return { settled, again: [] };
    }
    this.#held.push(item);
    this.#out ||= this.#held.length >= OUTAGE_AFTER;
    if (!this.#out) return { settled: [], again: [] };
    const again = this.#held.map(({ index }) => index);
    this.#held = [];
    return { settled: [], again };
  }

  /** Ends the outage, if there is one, and returns the results that were held back: they count. */
  flush(): WorkedItem[] {
    const held = this.#held;
    this.#held = [];
    this.#reason = null;
    this.#out = false;
    return held;
  }
}

/** Reasons name the job, and would all be different. An id inside a longer word is not the job's. */
function withoutJobId(reason: string, jobId: string): string {
  const escaped = jobId.replace(/[^A-Za-z0-9_]/g, '\\$&');
  return reason.replace(new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, 'g'), '…');
}

/** Ends early, and never rejects, when the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<unknown> {
  return sleep(milliseconds, undefined, { signal, ref: false }).catch(() => undefined);
}
