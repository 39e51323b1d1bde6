import pLimit from 'p-limit';
import { isUlid } from '../../lib/text/id-cursor.js';
import type { ObjectStore } from '../../store/object-store.js';
import { readBytes } from '../../store/read-to-end.js';
import { quarantineFolder } from '../layout.js';
import { readRequest } from './read-request.js';

export type QuarantineStore = ReturnType<typeof createQuarantineStore>;

/** Reads the bodies that any replica quarantined. The ledger shows whether they were settled. */
export function createQuarantineStore(store: ObjectStore) {
  const bodyKey = (id: string) => `${quarantineFolder(id)}body`;
  const oneAtATime = pLimit(1);
  const body = async (id: string) => (isUlid(id) ? await readBytes(store, bodyKey(id)) : null)?.bytes ?? null;
  return {
    request: async (id: string) => (isUlid(id) ? readRequest(store, id) : null),
    /** Key and size of the body; null when it is missing. */
    bodyInfo: async (id: string) => (isUlid(id) ? store.head(bodyKey(id)) : null),
    /**
     * Passes the whole body to `work`, or null when it is missing. Holds one body at a time, of at most `limits.quarantineBytes`,
     * so that operators use no memory that callbacks need.
     */
    withBody: <T>(id: string, work: (body: Buffer | null) => Promise<T>) =>
      oneAtATime(async () => work(await body(id))),
  };
}
