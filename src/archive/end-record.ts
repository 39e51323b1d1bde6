import type { ObjectStore } from '../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../store/read-document.js';
import { END_RECORDS_FOLDER, endRecordKey } from './layout.js';

/** Shows that the end of a job without a transcript is recorded for a source, or claimed by the run that is recording it. */
export interface EndRecord {
  /** Id of the ledger line of recovery; null when the callback itself has arrived. */
  readonly deliveryId: string | null;
  /** Whether the line is in the ledger. */
  readonly recorded: boolean;
  /** ISO 8601. */
  readonly at: string;
}

/** Null when there is no record. Throws `StoreError`. */
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

/** Creates the record unless one exists. Throws `StoreError`. */
export function createEndRecord(store: ObjectStore, jobId: string, source: string, record: EndRecord) {
  return store.create(endRecordKey(jobId, source), document(record), DOCUMENT_HEADERS);
}

/** Throws `StoreError`. */
export function replaceEndRecord(store: ObjectStore, jobId: string, source: string, record: EndRecord) {
  return store.replace(endRecordKey(jobId, source), document(record), DOCUMENT_HEADERS);
}

/**
 * Removes the records that were last written before a time, whose jobs the service no longer lists. If it lists one anyway, the ledger
 * still has the job. Throws `StoreError`, and the signal's reason.
 *
 * @param before milliseconds since the epoch
 */
export async function removeEndRecords(
  store: Pick<ObjectStore, 'list' | 'delete'>,
  before: number,
  signal?: AbortSignal,
): Promise<void> {
  for await (const { key, modifiedAt } of store.list(END_RECORDS_FOLDER, { signal }))
    if (modifiedAt.getTime() < before) await store.delete(key);
}

function document(record: EndRecord): Buffer {
  return Buffer.from(JSON.stringify({ v: 1, ...record }));
}
