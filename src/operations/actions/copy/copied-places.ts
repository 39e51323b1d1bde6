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
 * What is copied, in its order. Marks of erasure come first, so that a part of a copy never brings an erased job back. A position in the
 * ledger comes before the ledger, and the ledger before what its lines name: where the source goes on, the copy repeats an event rather
 * than losing one, and has whatever its ledger says is stored.
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

/** A copy without one of them could bring back what was erased. */
export function isErasureMark(key: string): boolean {
  return key.startsWith(ERASURES_FOLDER) || key.startsWith(ERASURE_LOG);
}

/**
 * Claims keep replicas of one store apart, and are made again. Those of conflicts (`.conflicts/`), canaries, probes and the marker are in
 * dot-folders that are not among the places.
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

/** Whether there is anything that is copied. Throws `StoreError`. */
export async function hasContent(store: ObjectStore): Promise<boolean> {
  for (const list of copiedPlaces()) for await (const _ of list(store, () => {})) return true;
  return false;
}
