import {
  END_RECORDS_FOLDER,
  ERASURE_LOG,
  ERASURES_FOLDER,
  NOTICES_FOLDER,
  OUTBOX_INDEX,
  QUARANTINE_INDEX,
  RETENTION_FOLDER,
} from '../../../archive/layout.js';
import { LEDGER_FOLDER, MERGED_FOLDER, OUTBOX_FOLDER } from '../../../ledger/ledger-keys.js';
import type { ListedObject, ListRange, ObjectStore } from '../../../store/object-store.js';

/**
 * Folders that are copied first, in this order. Marks of erasure are first, so that an unfinished copy never restores an erased job.
 * Positions in the ledger come before the ledger, and the ledger before the artefacts: if the source is written meanwhile, the copy repeats
 * events rather than losing one, and has every artefact that its ledger records.
 */
const FIRST: readonly string[] = [
  ERASURES_FOLDER,
  ERASURE_LOG,
  OUTBOX_FOLDER,
  OUTBOX_INDEX,
  NOTICES_FOLDER,
  RETENTION_FOLDER,
  QUARANTINE_INDEX,
  MERGED_FOLDER,
  LEDGER_FOLDER,
  END_RECORDS_FOLDER,
];

/** Whether the object is needed to keep erased jobs erased. */
export function isErasureMark(key: string): boolean {
  return key.startsWith(ERASURES_FOLDER) || key.startsWith(ERASURE_LOG);
}

/**
 * Claims are not copied, because they concern the replicas of one store. Nor are conflict claims (`.conflicts/`), canaries, probes and the
 * marker, whose dot-folders are not listed.
 */
const CLAIM = /^(?:outbox\/[^/]+|\.notices)\/claim-\d+\.json$/;

/**
 * Objects of a part of a store, in the order of keys.
 *
 * @param onUnreadable as of `ListRange`
 */
export type ListPlace = (
  store: ObjectStore,
  onUnreadable?: ListRange['onUnreadable'],
) => AsyncIterable<ListedObject>;

/** The parts of a store that are copied one after the other. */
export function copiedPlaces(): readonly ListPlace[] {
  return [
    ...FIRST.map(
      (folder): ListPlace =>
        (store, onUnreadable) =>
          copied(store.list(folder, { onUnreadable }), () => true),
    ),
    (store, onUnreadable) =>
      copied(store.list('', { onUnreadable }), (key) => !FIRST.some((folder) => key.startsWith(folder))),
  ];
}

async function* copied(
  listed: AsyncIterable<ListedObject>,
  isHere: (key: string) => boolean,
): AsyncGenerator<ListedObject> {
  for await (const object of listed) {
    if (isHere(object.key) && !CLAIM.test(object.key)) yield object;
  }
}

/** Whether the store has an object to copy. Throws `StoreError`. */
export async function hasContent(store: ObjectStore): Promise<boolean> {
  for (const list of copiedPlaces()) for await (const _ of list(store, () => {})) return true;
  return false;
}
