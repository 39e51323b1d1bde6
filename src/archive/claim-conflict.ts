import type { ObjectStore } from '../store/object-store.js';
import { readText } from '../store/read-to-end.js';
import { conflictClaimKey } from './layout.js';
import { holdsBytes } from './read-back.js';

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
  const claimed = (await readText(store, claimKey)) ?? kept.key;
  if (claimed === kept.key) return kept.key;
  // The claim remains when its copy was deleted by hand.
  return (await holdsBytes(store, claimed, kept)) ? claimed : kept.key;
}
