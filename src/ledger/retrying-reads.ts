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

/** An object cannot be read although the store answers: what is beside it can be. */
export class UnreadableObjectError extends StoreError {
  constructor(key: string, cause: StoreError) {
    // Its condition would be taken for that of the whole store.
    super('read', `${key} cannot be read although the store answers (${cause.message})`);
    this.name = 'UnreadableObjectError';
  }
}

/** A folder cannot be listed although the store answers and lists the ledger: what is beside it can be. */
export class UnlistableFolderError extends StoreError {
  readonly folder: string;

  constructor(folder: string, { message }: StoreError) {
    super('list', `${folder} cannot be listed although the store answers (${message})`);
    this.name = 'UnlistableFolderError';
    this.folder = folder;
  }
}

/** Milliseconds before each further attempt. */
const PAUSES = [0, 1_000];

/**
 * A store that tells an object that cannot be read, or a folder that cannot be listed, from an outage: what fails is tried again while the
 * store answers, and ends in `UnreadableObjectError` or `UnlistableFolderError`. During an outage it rejects at once. Bodies are in memory.
 */
export function retryingReads(store: ObjectStore, pauses: readonly number[] = PAUSES): ObjectStore {
  const readWhole: ObjectStore['read'] = async (key, ...args) => {
    const reading = await store.read(key, ...args);
    // Nobody reads a foreign object to its end.
    if (reading === null || reading.info.size > MAX_SEGMENT_BYTES) return reading;
    const body = await readToEnd(key, reading.body);
    return { info: reading.info, body: Readable.from([body]) };
  };
  return {
    ...retryingListings(store),
    read: (key, ...args) => retryRead(store, key, () => readWhole(key, ...args), pauses),
  };
}

/** The same of listings alone. */
export function retryingListings(store: ObjectStore): ObjectStore {
  return {
    ...store,
    list: (prefix, range) => retryListing(store, prefix, () => store.list(prefix, range)),
    keys: (prefix, range) => retryListing(store, prefix, () => store.keys(prefix, range)),
    folders: (prefix) => retryListing(store, prefix, () => store.folders(prefix)),
  };
}

/** Tries once more what failed before it brought anything. */
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
      if (!(error instanceof StoreError) || isOfWholeStore(error) || (await outage.failed())) throw error;
      if (isLast) throw new UnlistableFolderError(prefix, error);
    }
  }
}

function isOfWholeStore(error: StoreError): boolean {
  return error instanceof PartialListingError || error instanceof UnorderedListingError;
}

async function assertListsLedger(store: ObjectStore): Promise<void> {
  await store.identity();
  for (const root of [LEDGER_FOLDER, MERGED_FOLDER]) for await (const _ of store.folders(root)) break;
}

/** The same for what reads one object. */
export async function retryRead<Result>(
  store: ObjectStore,
  key: string,
  read: () => Promise<Result>,
  pauses: readonly number[],
): Promise<Result> {
  const outage = createOutageCheck(1, () => store.identity());
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof StoreError) || (await outage.failed())) throw error;
      const pause = pauses[attempt];
      if (pause === undefined) throw new UnreadableObjectError(key, error);
      await sleep(pause);
    }
  }
}
