import { CANARY_FOLDER } from '../../../archive/layout.js';
import type { ObjectStore } from '../../../store/object-store.js';
import { isServed, readCopyMark } from '../../../store/probe/copy-mark.js';
import { hasContent } from './copied-places.js';

/**
 * Why `from` may not be copied to `to`, and what to do; null when it may. Throws `StoreError`.
 *
 * @param canaryAge largest age in milliseconds of the canary of a running receiver
 */
export async function copyFault(
  from: ObjectStore,
  to: ObjectStore,
  canaryAge: number,
): Promise<string | null> {
  if (await isRunning(to, canaryAge))
    return `a receiver writes to ${to.location}: stop it, and copy again a minute later`;
  const id = await from.identity();
  if (id !== null && id === (await to.identity()))
    return `${from.location} and ${to.location} are the same store, ${id}`;
  const before = await readCopyMark(from);
  if (before?.finishedAt === null)
    return `${from.location} is itself an unfinished copy, of ${before.from.location}: finish that first, or copy from there`;
  const mark = await readCopyMark(to);
  if (mark === null) {
    if (!(await hasContent(to))) return null;
    return `${to.location} has content of its own: name an empty folder, bucket or prefix`;
  }
  if (id === null ? mark.from.location !== from.location : mark.from.id !== id)
    return `${to.location} is a copy of another store, ${mark.from.location}: name an empty folder, bucket or prefix`;
  if (await isServed(to))
    return `${to.location} was served since it was copied, and has content of its own: name an empty folder, bucket or prefix`;
  return null;
}

/** Whether a receiver has a recent canary in the store. Throws `StoreError`. */
export async function isRunning(store: ObjectStore, age: number): Promise<boolean> {
  for await (const { modifiedAt } of store.list(CANARY_FOLDER))
    if (modifiedAt.getTime() > Date.now() + store.clockOffset() - age) return true;
  return false;
}
