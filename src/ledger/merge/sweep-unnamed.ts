import type { MergedHour } from '../log/merge-record.js';
import type { MergeParts } from './merge-parts.js';

/** Milliseconds: a process that made an object writes its record within an hour, or never. */
const SWEPT_AFTER = 24 * 3_600_000;

/** Deletes the objects of an hour that no record names: their process died, or another was faster. Resolves to their number. */
export async function sweepUnnamed(
  { store, clock }: MergeParts,
  { unnamed, faults }: MergedHour,
): Promise<number> {
  // A record that cannot be read may name one.
  if (faults.some(({ key }) => key.endsWith('.json'))) return 0;
  const before = clock() + store.clockOffset() - SWEPT_AFTER;
  const old = unnamed.filter(({ modifiedAt }) => modifiedAt.getTime() < before);
  for (const { key } of old) await store.delete(key);
  return old.length;
}
