import type { ItemIdentity, StoredItem } from '../domain/item.js';
import { Problem } from '../domain/problem.js';
import {
  type CreateResult,
  type ObjectHeaders,
  type ObjectStore,
  StoreError,
} from '../store/object-store.js';
import { claimConflict } from './claim-conflict.js';
import { type ArtefactContext, artefactHeaders, artefactPath, conflictKey, jobFolder } from './layout.js';
import { type Found, holdsBytes, readBackOrDescribe } from './read-back.js';
import type { StagedItem, StreamTarget } from './staged-item.js';

interface Place {
  readonly store: ObjectStore;
  readonly context: ArtefactContext;
  readonly item: StagedItem;
  readonly identity: ItemIdentity;
  readonly folder: string;
  readonly path: string;
}

function placeOf(store: ObjectStore, context: ArtefactContext, item: StagedItem): Place {
  const { identity } = item;
  if (identity === null) throw new Error('an item was committed that has not ended');
  const folder = jobFolder(context.keyPrefix, context.jobId);
  return { store, context, item, identity, folder, path: artefactPath(identity) };
}

function stored(place: Place, key: string, outcome: StoredItem['outcome']): StoredItem {
  const { kind } = place.identity;
  return { kind, key, size: place.item.size, sha256: place.item.sha256, outcome };
}

/**
 * Makes an item that is in memory visible. In doubt, compares it with what its key holds.
 *
 * @param options.repeated an earlier item of the same delivery had the same path
 */
export async function commitBuffered(
  store: ObjectStore,
  context: ArtefactContext,
  item: StagedItem,
  { repeated }: { readonly repeated: boolean } = { repeated: false },
): Promise<StoredItem> {
  const place = placeOf(store, context, item);
  const key = place.folder + place.path;
  const headers = headersOf(place);
  const content = item.hold();
  try {
    if ((await store.create(key, content.bytes, headers)) === 'created') return stored(place, key, 'created');
    const found = await readBackOrDescribe(store, key);
    if (found === null)
      throw new StoreError('create', `${key} was there and is gone; it may be being erased`);
    if (found.sha256 !== item.sha256) {
      return item.description.standsIn
        ? existing(place, found)
        : await commitConflict(place, bufferedCopy(place, content.bytes, headers));
    }
    // A write whose answer was lost ends in `exists` as well; its metadata has this delivery's id.
    const ours = found.info.metadata['delivery-id'] === context.deliveryId && !repeated;
    return stored(place, key, ours ? 'created' : 'identical');
  } finally {
    content.release();
  }
}

function headersOf({ context, identity, item }: Place): ObjectHeaders {
  return artefactHeaders(context, identity, { fileName: item.description.fileName, sha256: item.sha256 });
}

/** An item that stands in never replaces or contradicts an existing one: the existing one is reported. */
function existing(place: Place, { info, size, sha256 }: Found): StoredItem {
  return { kind: place.identity.kind, key: info.key, size, sha256, outcome: 'identical' };
}

/** Makes a streamed item visible, or proves that its bytes are stored already. */
export async function commitStreamed(
  store: ObjectStore,
  context: ArtefactContext,
  item: StagedItem,
  target: StreamTarget,
): Promise<StoredItem> {
  const place = placeOf(store, context, item);
  if (target.isConflict) return commitStreamedConflict(place, target);
  if ((await target.upload.complete()) === 'created') return stored(place, target.key, 'created');
  const found = await readBackOrDescribe(store, target.key);
  if (found === null) throw new StoreError('complete', `${target.key} was there and is gone`);
  if (found.sha256 !== item.sha256) {
    throw new Problem(
      'write-race',
      'Another delivery stored different bytes for the same item; send it again.',
    );
  }
  const ours = found.info.metadata['delivery-id'] === context.deliveryId;
  return stored(place, target.key, ours ? 'created' : 'identical');
}

async function commitStreamedConflict(place: Place, { key, upload }: StreamTarget): Promise<StoredItem> {
  const { store, item } = place;
  const ownKey = place.folder + place.path;
  if (item.description.standsIn) {
    await upload.abort();
    const found = await readBackOrDescribe(store, ownKey);
    if (found !== null) return existing(place, found);
    throw new StoreError('complete', `${ownKey} was there and is gone`);
  }
  if (await holdsBytes(store, ownKey, item)) {
    await upload.abort();
    return stored(place, ownKey, 'identical');
  }
  return commitConflict(place, { key, write: () => upload.complete(), abandon: () => upload.abort() });
}

/** A copy of the item that is not written yet. */
interface ConflictCopy {
  /** Has the hash of the bytes, so that other deliveries may write it as well, or the id of this delivery. */
  readonly key: string;
  write(): Promise<CreateResult>;
  abandon(): Promise<void>;
}

/** A conflict in memory is named by its hash. */
function bufferedCopy(place: Place, content: Buffer, headers: ObjectHeaders): ConflictCopy {
  const key = conflictKey(place.folder, place.path, place.item.sha256);
  return { key, write: () => place.store.create(key, content, headers), abandon: async () => {} };
}

/**
 * Keeps bytes that differ from those at the item's key. However they come, streamed or not and several times at once, one copy
 * stays: one delivery reports a conflict, and all others are identical.
 */
async function commitConflict(place: Place, copy: ConflictCopy): Promise<StoredItem> {
  const { store, item, context } = place;
  const before = await keptBefore(place);
  if (before !== null) {
    await copy.abandon();
    return before;
  }
  let isOurs = true;
  if ((await copy.write()) === 'exists') {
    const found = await readBackOrDescribe(store, copy.key);
    if (found === null) {
      // Its writer removed it in favour of the copy that another delivery had claimed.
      const other = await keptBefore(place);
      if (other !== null) return other;
      throw new StoreError('create', `${copy.key} was there and is gone`);
    }
    if (found.sha256 !== item.sha256) {
      throw new StoreError('create', `${copy.key} holds other bytes than were sent`);
    }
    isOurs = found.info.metadata['delivery-id'] === context.deliveryId;
  }
  const key = await claim(place, copy.key);
  if (key === copy.key) return stored(place, key, isOurs ? 'conflict' : 'identical');
  // Without permission to delete the copy stays.
  if (isOurs) await store.delete(copy.key).catch(() => undefined);
  return stored(place, key, 'identical');
}

/** The item as an earlier delivery kept it; null when none did. */
async function keptBefore(place: Place): Promise<StoredItem | null> {
  const key = await knownConflict(place);
  return key === null ? null : stored(place, await claim(place, key), 'identical');
}

function claim({ store, item: { size, sha256 }, folder, path }: Place, key: string): Promise<string> {
  return claimConflict(store, { folder, path, size, sha256, key });
}

/** Key of an earlier conflict with the same bytes: a sender that repeats a delivery must not fill the store. */
async function knownConflict(place: Place): Promise<string | null> {
  const prefix = conflictKey(place.folder, place.path, '');
  for await (const candidate of place.store.list(prefix)) {
    if (candidate.size === place.item.size && (await holdsBytes(place.store, candidate.key, place.item))) {
      return candidate.key;
    }
  }
  return null;
}
