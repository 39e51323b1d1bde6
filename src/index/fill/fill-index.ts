import { storeClock } from '../../ledger/hours.js';
import type { ObjectStore } from '../../store/object-store.js';
import type { IndexCalls } from '../index-calls.js';
import type { IndexFiller } from './index-filler.js';
import { OlderHours } from './older-hours.js';
import { TakenHours } from './taken-hours.js';

export interface IndexFillerOptions {
  readonly store: ObjectStore;
  readonly index: IndexCalls;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds that the index reaches back. */
  readonly reach: number;
  /** Milliseconds that the service keeps results: open failures stay as long. */
  readonly retention: number;
  /** Bytes of the database that should not be exceeded. */
  readonly maxBytes: number;
  /** Names of subscribers to whom nothing may have been sent yet; others are found in the store. */
  readonly subscribers?: readonly string[] | undefined;
}

export function createIndexFiller(options: IndexFillerOptions): IndexFiller {
  const { store, index, clock, reach, retention, maxBytes, subscribers } = options;
  const now = storeClock(store, clock);
  const taken = new TakenHours({ store, index, now, reach, subscribers });
  const older = new OlderHours(taken, { store, index, now, reach, retention, maxBytes });

  function forget(error: unknown): never {
    taken.forget();
    throw error;
  }

  return {
    relist: () => taken.relist(),
    takeNew: () => taken.takeNew().catch(forget),
    async *older() {
      try {
        yield* older.take();
      } catch (error) {
        forget(error);
      }
    },
  };
}
