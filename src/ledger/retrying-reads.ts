import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ObjectStore,
  PartialListingError,
  StoreError,
  UnorderedListingError,
} from '../store/object-store.js';
import { createOutageCheck } from '../store/outage-check.js';
import { readToEnd } from '../store/read-to-end.js';
import { LEDGER_FOLDER, MERGED_FOLDER } from './ledger-keys.js';
import { MAX_SEGMENT_BYTES } from './read-segment.js';

/** An object cannot be read, or a folder cannot be listed, although the store answers. Others may be readable. */
export class UnreadableError extends StoreError {
  /** A folder ends in `/`. */
  readonly key: string;

  constructor(operation: 'read' | 'list', key: string, { message }: StoreError) {
    const what = operation === 'read' ? 'read' : 'listed';
    // Without the cause's condition, which would be taken for that of the whole store.
    super(operation, `${key} cannot be ${what} although the store answers (${message})`);
    this.name = 'UnreadableError';
    this.key = key;
  }
}

/** Milliseconds before each further attempt at an object. */
const PAUSES = [0, 1_000];

/**
 * A store that distinguishes an unreadable object or folder from an outage. A failed call is retried while the store answers, and then
 * rejects with `UnreadableError`; during an outage it rejects immediately. Bodies are read into memory.
 */
export function retryingReads(store: ObjectStore, pauses: readonly number[] = PAUSES): ObjectStore {
  const readWhole: ObjectStore['read'] = async (key, ...args) => {
    const reading = await store.read(key, ...args);
    // A foreign object, which no caller reads to its end.
    if (reading === null || reading.info.size > MAX_SEGMENT_BYTES) return reading;
    const bytes = await readToEnd(reading);
    return { ...reading, bytes, body: Readable.from([bytes]) };
  };
  return {
    ...retryingListings(store),
    async read(key, ...args) {
      const outage = createOutageCheck(1, () => store.identity());
      for (let attempt = 0; ; attempt += 1)
        try {
          return await readWhole(key, ...args);
        } catch (error) {
          if (!(error instanceof StoreError) || (await outage.failed())) throw error;
          const pause = pauses[attempt];
          if (pause === undefined) throw new UnreadableError('read', key, error);
          await sleep(pause);
        }
    },
  };
}

/** Like `retryingReads`, for listings only. */
export function retryingListings(store: ObjectStore): ObjectStore {
  return {
    ...store,
    list: (prefix, range) => retryListing(store, prefix, () => store.list(prefix, range)),
    keys: (prefix, range) => retryListing(store, prefix, () => store.keys(prefix, range)),
    folders: (prefix) => retryListing(store, prefix, () => store.folders(prefix)),
  };
}

/** Retries once a listing that failed before its first item. */
async function* retryListing<Item>(
  store: ObjectStore,
  prefix: string,
  list: () => AsyncIterable<Item>,
): AsyncGenerator<Item> {
  const outage = createOutageCheck(1, () => assertListsLedger(store));
  for (let isLast = false; ; isLast = true) {
    try {
      for await (const item of list()) {
        isLast = true;
        yield item;
      }
      return;
    } catch (error) {
      if (!(error instanceof StoreError) || concernsWholeStore(error) || (await outage.failed())) throw error;
      if (isLast) throw new UnreadableError('list', prefix, error);
    }
  }
}

function concernsWholeStore(error: StoreError): boolean {
  return error instanceof PartialListingError || error instanceof UnorderedListingError;
}

/** Throws `StoreError` when the store does not answer, or does not list the ledger. */
export async function assertListsLedger(store: ObjectStore): Promise<void> {
  await store.identity();
  for (const root of [LEDGER_FOLDER, MERGED_FOLDER]) for await (const _ of store.folders(root)) break;
}
