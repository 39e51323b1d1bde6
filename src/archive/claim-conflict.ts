import type { ObjectStore } from '../store/object-store.js';
import { readText } from '../store/read-to-end.js';
import { conflictClaimKey } from './layout.js';
import { holdsBytes } from './read-back.js';

/** Bytes that differ from the first ones at their key. */
interface KeptConflict {
  /** Folder of the job. */
  readonly folder: string;
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  /** Where they were found or just written. */
  readonly key: string;
}

const PLAIN = { contentType: 'text/plain', metadata: {} } as const;

/**
 * Decides which copy of a conflict stays. A streamed one is named by its delivery, one in memory by its hash, so that concurrent
 * deliveries of identical bytes write several objects. Every delivery calls this before it answers, with its copy already visible. The
 * first call names the copy that stays, by a conditional write; all others return its key. Copies
 * of their own have not been reported to anyone, so that they may be removed.
 *
 * @returns the key of the copy that stays
 */
export async function claimConflict(store: ObjectStore, kept: KeptConflict): Promise<string> {
  const claimKey = conflictClaimKey(kept.folder, kept.path, kept.sha256);
  if ((await store.create(claimKey, Buffer.from(kept.key), PLAIN)) === 'created') return kept.key;
  const claimed = (await readText(store, claimKey)) ?? kept.key;
  if (claimed === kept.key) return kept.key;
  // The claim remains when the copy it names was deleted by hand.
  return (await holdsBytes(store, claimed, kept)) ? claimed : kept.key;
}
