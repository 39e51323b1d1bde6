import type { ObjectStore } from '../store/object-store.js';
import { readText } from '../store/read-to-end.js';
import { conflictClaimKey } from './layout.js';
import { readBackOrDescribe } from './read-back.js';

/** A stored copy of bytes that differ from those at their own key. */
interface KeptConflict {
  /** Folder of the job. */
  readonly folder: string;
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  /** Key of the copy, which was found or just written. */
  readonly key: string;
}

const PLAIN = { contentType: 'text/plain', metadata: {} } as const;

/**
 * Decides which copy of a conflict stays. A streamed copy is named by its delivery, a buffered one by its hash, so that concurrent
 * deliveries of identical bytes may write several objects. Every delivery calls this before it answers, when its copy is visible. The
 * first call claims the conflict for its copy, by a conditional write; all others return the claimed key, and may remove their own
 * copies, which were not reported to anyone.
 *
 * @returns the key of the copy that stays
 */
export async function claimConflict(store: ObjectStore, kept: KeptConflict): Promise<string> {
  const claimKey = conflictClaimKey(kept.folder, kept.path, kept.sha256);
  if ((await store.create(claimKey, Buffer.from(kept.key), PLAIN)) === 'created') return kept.key;
  return (await claimedConflict(store, kept)) ?? kept.key;
}

/**
 * Key of the copy that was claimed for these bytes. Null without a claim, and when the copy was deleted or replaced by hand. A streamed copy
 * that must be restored first has no hash to compare: the claim, which names the hash, stands for it.
 */
export async function claimedConflict(
  store: ObjectStore,
  { folder, path, size, sha256 }: Omit<KeptConflict, 'key'>,
): Promise<string | null> {
  const key = await readText(store, conflictClaimKey(folder, path, sha256));
  if (key === null || (await store.head(key))?.size !== size) return null;
  const found = await readBackOrDescribe(store, key);
  return found?.sha256 === sha256 || found?.sha256 === '' ? key : null;
}
