import { storeClock } from '../../ledger/hours.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexCalls } from '../index-calls.js';
import type { IndexFiller } from './index-filler.js';
import { IndexedHours } from './indexed-hours.js';
import { OlderHours } from './older-hours.js';

export interface IndexFillerOptions {
  readonly store: ObjectStore;
  readonly index: IndexCalls;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds that the index reaches back. */
  readonly reach: number;
  /** Milliseconds that the service keeps results; open failures are kept as long. */
  readonly retention: number;
  /** Target size of the database, in bytes. */
  readonly maxBytes: number;
  /** Names of subscribers that may have no sent records yet; others are found in the store. */
  readonly subscribers?: readonly string[] | undefined;
}

export function createIndexFiller(options: IndexFillerOptions): IndexFiller {
  const { store, index, clock, reach, retention, maxBytes, subscribers } = options;
  const now = storeClock(store, clock);
  const indexed = new IndexedHours({ store, index, now, reach, subscribers });
  const older = new OlderHours(indexed, { store, index, now, reach, retention, maxBytes });

  function invalidate(error: unknown): never {
    indexed.invalidate();
    throw error;
  }

  return {
    relist: () => indexed.relist(),
    addNew: () => indexed.addNew().catch(invalidate),
    async *addOlder() {
      try {
        yield* older.fill();
      } catch (error) {
        invalidate(error);
      }
    },
  };
}
