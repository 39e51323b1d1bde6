import { buffer } from 'node:stream/consumers';
import pLimit from 'p-limit';
import { isUlid } from '../../lib/text/id-cursor.js';
import type { ObjectInfo, ObjectStore } from '../../store/object-store.js';
import { quarantineFolder } from '../layout.js';
import type { QuarantinedRequest } from './quarantine.js';
import { readRequest } from './read-request.js';

/** Reads the bodies that any replica quarantined. What became of them is in the ledger. */
export interface QuarantineStore {
  request(id: string): Promise<QuarantinedRequest | null>;
  /** Key and size of the body; null when it is missing. */
  bodyInfo(id: string): Promise<ObjectInfo | null>;
  /**
   * Passes the whole body to `work`, null when it is missing. Holds one body at a time, of at most `limits.quarantineBytes`,
   * so that operators take no memory that callbacks need.
   */
  withBody<T>(id: string, work: (body: Buffer | null) => Promise<T>): Promise<T>;
}

export function createQuarantineStore(store: ObjectStore): QuarantineStore {
  const bodyKey = (id: string) => `${quarantineFolder(id)}body`;
  const oneAtATime = pLimit(1);
  const body = async (id: string) => {
    const reading = isUlid(id) ? await store.read(bodyKey(id)) : null;
    return reading === null ? null : buffer(reading.body);
  };
  return {
    request: async (id) => (isUlid(id) ? readRequest(store, id) : null),
    bodyInfo: async (id) => (isUlid(id) ? store.head(bodyKey(id)) : null),
    withBody: (id, work) => oneAtATime(async () => work(await body(id))),
  };
}
