import type { ObjectStore } from '../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../store/read-document.js';
import { endRecordKey } from './layout.js';

/** Whether the end of a job without a transcript is on record for a source, or claimed by the run that is recording it. */
export interface EndRecord {
  /** Id of the line of recovery; null where the callback itself has arrived. */
  readonly deliveryId: string | null;
  /** Whether the line is in the ledger. */
  readonly recorded: boolean;
  /** ISO 8601. */
  readonly at: string;
}

/** Null without one. Throws `StoreError`. */
export async function readEndRecord(
  store: Pick<ObjectStore, 'read'>,
  jobId: string,
  source: string,
): Promise<EndRecord | null> {
  const found = await readDocument(store, endRecordKey(jobId, source));
  if (found === null) return null;
  const { deliveryId, recorded, at } = found;
  return {
    deliveryId: typeof deliveryId === 'string' ? deliveryId : null,
    recorded: recorded === true,
    at: String(at),
  };
}

/** Creates the record, unless there is one. Throws `StoreError`. */
export function createEndRecord(store: ObjectStore, jobId: string, source: string, record: EndRecord) {
  return store.create(endRecordKey(jobId, source), document(record), DOCUMENT_HEADERS);
}

/** Throws `StoreError`. */
export function replaceEndRecord(store: ObjectStore, jobId: string, source: string, record: EndRecord) {
  return store.replace(endRecordKey(jobId, source), document(record), DOCUMENT_HEADERS);
}

function document(record: EndRecord): Buffer {
  return Buffer.from(JSON.stringify({ v: 1, ...record }));
}
