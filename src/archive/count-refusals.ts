import { type ObjectStore, StoreError } from '../store/object-store.js';
import { DOCUMENT_HEADERS } from '../store/read-document.js';
import { ulidMaker } from '../text/ulid-maker.js';
import { repeat } from '../time/repeat.js';
import { refusalCountsKey } from './layout.js';

/** An unauthenticated request that was refused. */
interface CountedRefusal {
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Null for requests to no configured source. */
  readonly source: string | null;
  readonly reason: string;
}

/** The refusals of one source and reason on one day in UTC. */
export interface RefusalCount {
  readonly source: string | null;
  readonly reason: string;
  readonly count: number;
  readonly first: string;
  readonly last: string;
}

export interface RefusalCounter {
  add(refusal: CountedRefusal): void;
  /** Writes what is left, and ends. */
  stop(): Promise<void>;
}

const WRITE_EVERY = 60_000;

/** Counts of one day; further sources are counted without their name. Senders choose neither sources nor reasons. */
const MAX_COUNTS = 1000;

/** Days that wait for a store that is away. */
const MAX_DAYS = 2;

/**
 * Counts unauthenticated refusals in the store, for other replicas and for the time after this process: one object for each
 * day, written at most once a minute and only when there is something new, so that no number of requests fills the store.
 */
export function countRefusals(
  store: Pick<ObjectStore, 'replace'>,
  isStoreReady: () => boolean,
  interval = WRITE_EVERY,
): RefusalCounter {
  const run = ulidMaker()();
  const days = new Map<string, Map<string, RefusalCount>>();
  const changed = new Set<string>();
  const writing = repeat(write, { interval, firstWithin: interval });

  async function write(): Promise<void> {
    for (const day of isStoreReady() ? [...changed] : []) {
      changed.delete(day);
      try {
        const counts = [...(days.get(day)?.values() ?? [])];
        await store.replace(
          refusalCountsKey(day, run),
          Buffer.from(JSON.stringify({ counts })),
          DOCUMENT_HEADERS,
        );
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        changed.add(day);
      }
    }
  }

  return {
    add({ at, source, reason }) {
      const day = at.slice(0, 10);
      const counts = days.get(day) ?? new Map<string, RefusalCount>();
      days.set(day, counts);
      for (const old of [...days.keys()].slice(0, -MAX_DAYS)) {
        days.delete(old);
        changed.delete(old);
      }
      const named = counts.size < MAX_COUNTS || counts.has(nameOf(source, reason)) ? source : null;
      const before = counts.get(nameOf(named, reason));
      const count = {
        source: named,
        reason,
        count: (before?.count ?? 0) + 1,
        first: before?.first ?? at,
        last: at,
      };
      counts.set(nameOf(named, reason), count);
      changed.add(day);
    },
    async stop() {
      await writing.stop();
      await write();
    },
  };
}

function nameOf(source: string | null, reason: string): string {
  return JSON.stringify([source, reason]);
}
