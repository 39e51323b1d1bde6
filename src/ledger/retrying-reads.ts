import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ObjectStore, StoreError } from '../store/object-store.js';
import { readToEnd } from '../store/read-to-end.js';

/** An object cannot be read although the store answers: what is beside it can be. */
export class UnreadableObjectError extends StoreError {
  constructor(key: string, cause: StoreError) {
    // Its condition would be taken for that of the whole store.
    super('read', `${key} cannot be read although the store answers (${cause.message})`);
    this.name = 'UnreadableObjectError';
  }
}

/** Milliseconds before each further attempt. */
const PAUSES = [0, 1_000];
/** Larger objects are foreign, and nobody reads them to the end. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * A store that tells an object that cannot be read from an outage: reads that fail are tried again while the store answers, and end in
 * `UnreadableObjectError`. During an outage they reject at once. Bodies are in memory.
 */
export function retryingReads(store: ObjectStore, pauses: readonly number[] = PAUSES): ObjectStore {
  const readWhole: ObjectStore['read'] = async (key, ...args) => {
    const reading = await store.read(key, ...args);
    if (reading === null || reading.info.size > MAX_BYTES) return reading;
    const body = await readToEnd(key, reading.body);
    return { info: reading.info, body: Readable.from([body]) };
  };

  return {
    ...store,
    async read(key, ...args) {
      for (let attempt = 0; ; attempt += 1) {
        try {
          return await readWhole(key, ...args);
        } catch (error) {
          if (!(error instanceof StoreError) || !(await answers(store))) throw error;
          const pause = pauses[attempt];
          if (pause === undefined) throw new UnreadableObjectError(key, error);
          await sleep(pause);
        }
      }
    },
  };
}

async function answers(store: ObjectStore): Promise<boolean> {
  try {
    await store.identity();
    return true;
  } catch (error) {
    if (error instanceof StoreError) return false;
    throw error;
  }
}
