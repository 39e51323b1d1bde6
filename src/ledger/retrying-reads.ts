import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ObjectStore, StoreError } from '../store/object-store.js';
import { createOutageCheck } from '../store/outage-check.js';
import { readToEnd } from '../store/read-to-end.js';
import { MAX_SEGMENT_BYTES } from './read-segment.js';

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

/**
 * A store that tells an object that cannot be read from an outage: reads that fail are tried again while the store answers, and end in
 * `UnreadableObjectError`. During an outage they reject at once. Bodies are in memory.
 */
export function retryingReads(store: ObjectStore, pauses: readonly number[] = PAUSES): ObjectStore {
  const readWhole: ObjectStore['read'] = async (key, ...args) => {
    const reading = await store.read(key, ...args);
    // Nobody reads a foreign object to its end.
    if (reading === null || reading.info.size > MAX_SEGMENT_BYTES) return reading;
    const body = await readToEnd(key, reading.body);
    return { info: reading.info, body: Readable.from([body]) };
  };
  return { ...store, read: (key, ...args) => retryRead(store, key, () => readWhole(key, ...args), pauses) };
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
