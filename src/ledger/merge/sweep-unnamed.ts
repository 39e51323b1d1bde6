import type { MergedHour } from '../log/merge-record.js';
import { deleteEach } from './delete-each.js';
import type { MergeParts } from './merge-parts.js';

/** Milliseconds. A process that wrote an object writes its record within an hour, or never. */
const SWEPT_AFTER = 24 * 3_600_000;

/** Deletes the objects of an hour that no record names: their process died, or another wrote the record first. Resolves to their number. */
export async function sweepUnnamed(
  { store, clock }: MergeParts,
  { unnamed, faults }: MergedHour,
): Promise<number> {
  // An unreadable record may name one of them.
  if (faults.some(({ key }) => key.endsWith('.json'))) return 0;
  const now = clock() + store.clockOffset();
  const old = unnamed.filter(({ modifiedAt }) => isSweepable(modifiedAt, now));
  await deleteEach(
    store,
    old.map(({ key }) => key),
    1,
  );
  return old.length;
}

/** Whether an object without a record is old enough to be deleted, by the store's time. */
export function isSweepable(modifiedAt: Date, now: number): boolean {
  return modifiedAt.getTime() < now - SWEPT_AFTER;
}
