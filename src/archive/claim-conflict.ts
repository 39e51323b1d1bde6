import { text } from 'node:stream/consumers';
import type { ObjectStore } from '../store/object-store.js';
import { conflictClaimKey } from './layout.js';
import { holdsBytes } from './read-back.js';

/** Bytes that lie, or lay, beside what was first at their key. */
export interface KeptConflict {
  /** Folder of the job. */
  readonly folder: string;
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  /** Where they were found, or just written. */
  readonly key: string;
}

const PLAIN = { contentType: 'text/plain', metadata: {} } as const;

/**
 * Decides which copy of a streamed conflict is the one. Such a conflict is named by its delivery, so that identical bodies
 * at the same moment become two objects. Every delivery asks here before it answers, with the bytes already visible; the
 * first to ask names the copy that stays, by a conditional write, and all others learn its key. Nobody was told of another
 * copy, so that its writer may remove it.
 *
 * @returns the key that holds the bytes: the given one, or that of the first
 */
export async function claimConflict(store: ObjectStore, kept: KeptConflict): Promise<string> {
  const claimKey = conflictClaimKey(kept.folder, kept.path, kept.sha256);
  if ((await store.create(claimKey, Buffer.from(kept.key), PLAIN)) === 'created') return kept.key;
  const reading = await store.read(claimKey);
  const claimed = reading === null ? kept.key : await text(reading.body);
  if (claimed === kept.key) return kept.key;
  // A copy that was removed from outside leaves its claim behind.
  return (await holdsBytes(store, claimed, kept)) ? claimed : kept.key;
}
