/** Keys of the ledger's objects, relative to the store's prefix (docs/store-layout.md). */
export const LEDGER_FOLDER = 'ledger/';

/** Folder of what concerns subscribers. */
export const OUTBOX_FOLDER = 'outbox/';

/** Folder of the segments of what was sent to a subscriber; its hours are like those of the ledger. */
export function sentFolder(subscriber: string): string {
  return `${OUTBOX_FOLDER}${subscriber}/sent/`;
}

/** Folder of merged hours. */
export const MERGED_FOLDER = 'ledger-hours/';

/** Key of the n-th record of a merged hour; `hour` is a `hourFolder`. */
export function recordKey(hour: string, n: number): string {
  return `${MERGED_FOLDER}${hour}${n}.json`;
}

/** Key of the object that the n-th record names. */
export function mergedObjectKey(hour: string, n: number, sha256: string): string {
  return `${MERGED_FOLDER}${hour}${n}-${sha256.slice(0, 16)}.ndjson.gz`;
}
