import type { ItemIdentity, StoredItem } from '../domain/item.js';
import { Problem } from '../domain/problem.js';
import {
  type CreateResult,
  type ObjectHeaders,
  type ObjectStore,
  StoreError,
} from '../store/object-store.js';
import { claimConflict, claimedConflict } from './claim-conflict.js';
import { type ArtefactContext, artefactHeaders, artefactPath, conflictKey, jobFolder } from './layout.js';
import { holdsBytes, readBackOrDescribe, type StoredObject } from './read-back.js';
import type { StagedItem, StreamTarget } from './staged-item.js';

interface ItemCommit {
  readonly store: ObjectStore;
  readonly context: ArtefactContext;
  readonly item: StagedItem;
  readonly identity: ItemIdentity;
  readonly folder: string;
  readonly path: string;
}

function newCommit(store: ObjectStore, context: ArtefactContext, item: StagedItem): ItemCommit {
  const { identity } = item;
  if (identity === null) throw new Error('an item was committed that has not ended');
  const folder = jobFolder(context.keyPrefix, context.jobId);
  return { store, context, item, identity, folder, path: artefactPath(identity) };
}

function stored(commit: ItemCommit, key: string, outcome: StoredItem['outcome']): StoredItem {
  const { kind } = commit.identity;
  return { kind, key, size: commit.item.size, sha256: commit.item.sha256, outcome };
}

/**
 * Makes a buffered item visible. When its key exists, compares the item with the object there.
 *
 * @param options.repeated an earlier item of the same delivery had the same path
 */
export async function commitBuffered(
  store: ObjectStore,
  context: ArtefactContext,
  item: StagedItem,
  { repeated }: { readonly repeated: boolean } = { repeated: false },
): Promise<StoredItem> {
  const commit = newCommit(store, context, item);
  const key = commit.folder + commit.path;
  const headers = headersOf(commit);
  const content = item.hold();
  try {
    if ((await store.create(key, content.bytes, headers)) === 'created')
      return stored(commit, key, 'created');
    const found = await readBackOrDescribe(store, key);
    if (found === null)
      throw new StoreError('create', `${key} was there and is gone; it may be being erased`);
    if (found.sha256 !== item.sha256) {
      return item.description.standsIn
        ? existingItem(commit, found)
        : await commitConflict(commit, bufferedCopy(commit, content.bytes, headers));
    }
    // A write whose answer was lost also ends in `exists`; then the object has this delivery's id.
    const isOwnWrite = found.info.metadata['delivery-id'] === context.deliveryId && !repeated;
    return stored(commit, key, isOwnWrite ? 'created' : 'identical');
  } finally {
    content.release();
  }
}

function headersOf({ context, identity, item }: ItemCommit): ObjectHeaders {
  return artefactHeaders(context, identity, { fileName: item.description.fileName, sha256: item.sha256 });
}

/** Reports the existing object, which an item that stands in never replaces or contradicts. */
function existingItem(commit: ItemCommit, { info, size, sha256 }: StoredObject): StoredItem {
  return { kind: commit.identity.kind, key: info.key, size, sha256, outcome: 'identical' };
}

/** Makes a streamed item visible, or proves that its bytes are stored already. */
export async function commitStreamed(
  store: ObjectStore,
  context: ArtefactContext,
  item: StagedItem,
  target: StreamTarget,
): Promise<StoredItem> {
  const commit = newCommit(store, context, item);
  if (target.isConflict) return commitStreamedConflict(commit, target);
  if ((await target.upload.complete()) === 'created') return stored(commit, target.key, 'created');
  const found = await readBackOrDescribe(store, target.key);
  if (found === null) throw new StoreError('complete', `${target.key} was there and is gone`);
  if (found.sha256 !== item.sha256) {
    throw new Problem(
      'write-race',
      'Another delivery stored different bytes for the same item; send it again.',
    );
  }
  const isOwnWrite = found.info.metadata['delivery-id'] === context.deliveryId;
  return stored(commit, target.key, isOwnWrite ? 'created' : 'identical');
}

async function commitStreamedConflict(
  commit: ItemCommit,
  { key, upload }: StreamTarget,
): Promise<StoredItem> {
  const { store, item } = commit;
  const ownKey = commit.folder + commit.path;
  if (item.description.standsIn) {
    await upload.abort();
    const found = await readBackOrDescribe(store, ownKey);
    if (found !== null) return existingItem(commit, found);
    throw new StoreError('complete', `${ownKey} was there and is gone`);
  }
  if (await holdsBytes(store, ownKey, item)) {
    await upload.abort();
    return stored(commit, ownKey, 'identical');
  }
  return commitConflict(commit, { key, write: () => upload.complete(), abandon: () => upload.abort() });
}

/** A conflict copy of the item that is not written yet. */
interface ConflictCopy {
  /** Contains the hash of the bytes, so that other deliveries may write the same key, or the id of this delivery. */
  readonly key: string;
  write(): Promise<CreateResult>;
  abandon(): Promise<void>;
}

/** The conflict copy of a buffered item, named by its hash. */
function bufferedCopy(commit: ItemCommit, content: Buffer, headers: ObjectHeaders): ConflictCopy {
  const key = conflictKey(commit.folder, commit.path, commit.item.sha256);
  return { key, write: () => commit.store.create(key, content, headers), abandon: async () => {} };
}

/**
 * Keeps bytes that differ from those at the item's key. One copy stays, also of streamed and concurrent deliveries: one delivery
 * reports a conflict, and all others report `identical`.
 */
async function commitConflict(commit: ItemCommit, copy: ConflictCopy): Promise<StoredItem> {
  const { store, item, context } = commit;
  const before = await existingConflict(commit);
  if (before !== null) {
    await copy.abandon();
    return before;
  }
  let isOwnWrite = true;
  if ((await copy.write()) === 'exists') {
    const found = await readBackOrDescribe(store, copy.key);
    if (found === null) {
      // Its writer removed it in favour of a copy that was claimed earlier.
      const other = await existingConflict(commit);
      if (other !== null) return other;
      throw new StoreError('create', `${copy.key} was there and is gone`);
    }
    if (found.sha256 !== item.sha256) {
      throw new StoreError('create', `${copy.key} holds other bytes than were sent`);
    }
    isOwnWrite = found.info.metadata['delivery-id'] === context.deliveryId;
  }
  const key = await claim(commit, copy.key);
  if (key === copy.key) return stored(commit, key, isOwnWrite ? 'conflict' : 'identical');
  // Without permission to delete, the copy stays.
  if (isOwnWrite) await store.delete(copy.key).catch(() => undefined);
  return stored(commit, key, 'identical');
}

/** The item in the conflict copy of an earlier delivery; null when there is none. */
async function existingConflict(commit: ItemCommit): Promise<StoredItem | null> {
  const claimed = await claimedConflict(commit.store, bytesOf(commit));
  if (claimed !== null) return stored(commit, claimed, 'identical');
  const key = await findConflictKey(commit);
  return key === null ? null : stored(commit, await claim(commit, key), 'identical');
}

function claim(commit: ItemCommit, key: string): Promise<string> {
  return claimConflict(commit.store, { ...bytesOf(commit), key });
}

function bytesOf({ item: { size, sha256 }, folder, path }: ItemCommit) {
  return { folder, path, size, sha256 };
}

/** Key of an existing conflict with the same bytes, so that a sender that repeats a delivery does not fill the store. */
async function findConflictKey(commit: ItemCommit): Promise<string | null> {
  const prefix = conflictKey(commit.folder, commit.path, '');
  for await (const candidate of commit.store.list(prefix)) {
    if (candidate.size === commit.item.size && (await holdsBytes(commit.store, candidate.key, commit.item))) {
      return candidate.key;
    }
  }
  return null;
}
