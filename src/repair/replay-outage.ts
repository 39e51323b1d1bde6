import type { ItemOutcome } from './run-replay.js';

/** An item that was worked on. */
export interface WorkedItem {
  readonly index: number;
  readonly result: ItemOutcome;
}

/**
 * Tells failures of one job from an outage. Failures in a row that differ in the job's id alone are held back: when there
 * are `limit` of them the key is refused, or the service is away, and going on would only use the list up. They are
 * worked on again then. Anything else in between settles them: they are failures of their own.
 */
export class OutageWatch {
  readonly #limit: number;
  #held: WorkedItem[] = [];
  #reason: string | null = null;
  #out = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Why every item fails; null while that is not known. */
  get cause(): string | null {
    return this.#out ? this.#reason : null;
  }

  /** Takes a result and gives those that count by now, and the items that have to be worked on again. */
  see(item: WorkedItem): { readonly settled: readonly WorkedItem[]; readonly again: readonly number[] } {
    const { outcome, reason, jobId } = item.result;
    if (outcome !== 'failed' || reason === null) return { settled: [...this.flush(), item], again: [] };
    const cause = withoutJob(reason, jobId);
    if (cause !== this.#reason) {
      const settled = this.flush();
      this.#reason = cause;
      this.#held = [item];
      return { settled, again: [] };
    }
    this.#held.push(item);
    this.#out ||= this.#held.length >= this.#limit;
    if (!this.#out) return { settled: [], again: [] };
    const again = this.#held.map(({ index }) => index);
    this.#held = [];
    return { settled: [], again };
  }

  /** Ends the outage, if there is one, and gives what was held back: it counts. */
  flush(): WorkedItem[] {
    const held = this.#held;
    this.#held = [];
    this.#reason = null;
    this.#out = false;
    return held;
  }
}

/** Reasons say which job was asked for, and would all be different. An id inside of a longer word is none. */
function withoutJob(reason: string, jobId: string): string {
  const escaped = jobId.replace(/[^A-Za-z0-9_]/g, '\\$&');
  return reason.replace(new RegExp(`(?<![\\w-])${escaped}(?![\\w-])`, 'g'), '…');
}
