import pLimit from 'p-limit';
import type { QuarantineState } from '../../domain/quarantined-body.js';

/** A quarantined body in a listing. */
export interface QuarantineEntry {
  readonly id: string;
  readonly bytes: number;
  /** By its marks: one that waits may be settled by what the archive holds. */
  readonly state: QuarantineState;
}

/** Bodies by state. */
export interface QuarantineFigures extends Readonly<Record<QuarantineState, number>> {
  readonly waitingBytes: number;
}

export interface CountParts {
  /** Oldest first, behind an id. */
  readonly entries: (range: {
    readonly after: string;
    readonly signal?: AbortSignal | undefined;
  }) => AsyncIterable<QuarantineEntry>;
  /** Whether the archive holds what a body should have brought. */
  readonly isStored: (id: string) => Promise<boolean>;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
}

/**
 * Counts all bodies. A question counts on from where the one before ended, until its signal aborts; if it got on, it then gets the last
 * whole count, and before the first one an error. Memory does not grow with the quarantine.
 */
export type QuarantineCount = (signal?: AbortSignal) => Promise<QuarantineFigures>;

/** Milliseconds for which a count is good, at least. */
const GOOD_FOR = 2_000;
/** A count is good for so many times what it took: listings of a large quarantine must not take the time of callbacks. */
const REST = 10;
/** Waiting bodies that a count looks up in the archive, two requests each; further ones have their turn later. */
const CHECKS = 200;
const CHECKS_AT_ONCE = 16;
const CHECKS_PER_SECOND = 50;

export function createQuarantineCount({ entries, isStored, clock = Date.now }: CountParts): QuarantineCount {
  const oneAtATime = pLimit(1);
  /** Waiting bodies whose job was stored: they stay settled when its artefacts expire. */
  let stored: ReadonlySet<string> = new Set();
  let checkedTo = '';
  let last: QuarantineFigures | null = null;
  let goodUntil = 0;
  let count = new Count(stored, checkedTo);

  async function goOn(signal: AbortSignal | undefined): Promise<QuarantineFigures> {
    const started = clock();
    try {
      for await (const entry of entries({ after: count.at, signal })) count.add(entry);
      for (let due = count.due(); due.length > 0; due = count.due()) {
        await Promise.all(due.map(async (entry) => count.checked(entry, await isStored(entry.id))));
        signal?.throwIfAborted();
      }
    } finally {
      count.took += clock() - started;
    }
    const { took, checks } = count;
    goodUntil = clock() + Math.max(GOOD_FOR, REST * took, (checks * 1000) / CHECKS_PER_SECOND);
    last = count.figures();
    stored = count.stored;
    checkedTo = count.checkedTo;
    count = new Count(stored, checkedTo);
    return last;
  }

  return (signal) =>
    oneAtATime(async () => {
      if (last !== null && clock() < goodUntil) return last;
      const { seen } = count;
      try {
        return await goOn(signal);
      } catch (cause) {
        // Without progress the store does not answer: an old count would hide that.
        if (signal?.aborted !== true || count.seen === seen) throw cause;
        if (last !== null) return last;
        throw new Error(`still being counted, ${count.seen} bodies so far`, { cause });
      }
    });
}

/** One count of all, as far as it is. */
class Count {
  readonly #known: ReadonlySet<string>;
  readonly #checkAfter: string;
  readonly #numbers = { waiting: 0, waitingBytes: 0, released: 0, settled: 0 };
  /** Those behind the last check, and those that follow once no more are. */
  readonly #next: QuarantineEntry[] = [];
  readonly #first: QuarantineEntry[] = [];
  /** Waiting bodies whose job was stored. */
  readonly stored = new Set<string>();
  at = '';
  seen = 0;
  took = 0;
  checks = 0;
  checkedTo: string;

  constructor(known: ReadonlySet<string>, checkAfter: string) {
    this.#known = known;
    this.#checkAfter = checkAfter;
    this.checkedTo = checkAfter;
  }

  add(entry: QuarantineEntry): void {
    this.at = entry.id;
    this.seen += 1;
    if (entry.state !== 'waiting') this.#numbers[entry.state] += 1;
    else if (this.#known.has(entry.id)) this.#settle(entry);
    else {
      this.#numbers.waiting += 1;
      this.#numbers.waitingBytes += entry.bytes;
      const turn = entry.id > this.#checkAfter ? this.#next : this.#first;
      if (turn.length < CHECKS) turn.push(entry);
    }
  }

  /** The next to be looked up, a few at a time; empty when none is left. */
  due(): readonly QuarantineEntry[] {
    const left = Math.min(CHECKS - this.checks, CHECKS_AT_ONCE);
    const due = this.#next.splice(0, left);
    const more = due.length > 0 ? due : this.#first.splice(0, left);
    this.checks += more.length;
    this.checkedTo = more.at(-1)?.id ?? this.checkedTo;
    return more;
  }

  checked(entry: QuarantineEntry, isStored: boolean): void {
    if (!isStored) return;
    this.#numbers.waiting -= 1;
    this.#numbers.waitingBytes -= entry.bytes;
    this.#settle(entry);
  }

  #settle({ id }: QuarantineEntry): void {
    this.#numbers.settled += 1;
    this.stored.add(id);
  }

  figures(): QuarantineFigures {
    return { ...this.#numbers };
  }
}
