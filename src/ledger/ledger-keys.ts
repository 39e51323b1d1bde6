/** Keys of the ledger's objects, relative to the store's prefix (docs/store-layout.md). */
export const LEDGER_FOLDER = 'ledger/';

/** Folder of the state, dead events and sent records of subscribers. */
export const OUTBOX_FOLDER = 'outbox/';

/** Folder of a subscriber's sent records; segments and hours are as in the ledger. */
export function sentFolder(subscriber: string): string {
  return `${OUTBOX_FOLDER}${subscriber}/sent/`;
}

/** Folder of the merged hours of a folder of segments, such as `outbox/crm/sent-hours/` of `outbox/crm/sent/`. */
export function mergedFolder(folder: string): string {
  return `${folder.slice(0, -1)}-hours/`;
}

/** Folder of the merged hours of the ledger. */
export const MERGED_FOLDER = mergedFolder(LEDGER_FOLDER);

/** Key of the n-th record of a merged hour; `hour` is a `hourFolder`. */
export function recordKey(folder: string, hour: string, n: number): string {
  return `${mergedFolder(folder)}${hour}${n}.json`;
}

/** Key of the object that the n-th record names. */
export function mergedObjectKey(folder: string, hour: string, n: number, sha256: string): string {
  return `${mergedFolder(folder)}${hour}${n}-${sha256.slice(0, 16)}.ndjson.gz`;
}
