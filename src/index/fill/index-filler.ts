import type { ObjectStore } from '../../store/object-store.js';
import type { IndexCalls } from '../index-calls.js';

export interface IndexFillerOptions {
  readonly store: ObjectStore;
  readonly index: IndexCalls;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds that the index reaches back. */
  readonly reach: number;
  /** Milliseconds that the service keeps results; open failures are kept as long. */
  readonly retention: number;
  /** Target size of the database with its write-ahead log, in bytes. */
  readonly maxBytes: number;
  /** Names of subscribers that may have no sent records yet; others are found in the store. */
  readonly subscribers?: readonly string[] | undefined;
}

/** Fills the index from the log. Calls reject with `StoreError` and `IndexError`; the next call continues. */
export interface IndexFiller {
  /** Adds new lines. */
  addNew(): Promise<void>;
  /** Adds older hours, newest first, until the index is complete. `addNew` may be called between two of its steps. */
  addOlder(): AsyncGenerator<void>;
  /** Makes the next `addNew` list the log, so that it finds new writers. */
  relist(): void;
}

/** Fills the index completely. */
export async function fillAll(filler: Omit<IndexFiller, 'relist'>): Promise<void> {
  await filler.addNew();
  for await (const _step of filler.addOlder());
}
