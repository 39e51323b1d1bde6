import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';
import { compactionPlanKey } from '../ledger-keys.js';

/**
 * The claim on a file of an hour: which segments it covers. Created before the file and deleted after its rollup, by
 * conditional create, so that no two files cover one segment (docs/decisions/compaction.md).
 */
export interface CompactionPlan {
  readonly n: number;
  /** Names of the segments, without their folder. */
  readonly segments: readonly string[];
}

/** The names of 20,000 segments, and a thousand ledger lines: a few megabytes. */
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

/**
 * Claims the n-th file of an hour. False when another plan of that number exists.
 *
 * @param owner unique; tells an own plan whose response was lost from another's
 */
export async function createPlan(
  store: ObjectStore,
  hour: string,
  { n, segments }: CompactionPlan,
  owner: string,
): Promise<boolean> {
  const key = compactionPlanKey(hour, n);
  const body = Buffer.from(JSON.stringify({ v: 1, hour, owner, segments }));
  if ((await store.create(key, body, DOCUMENT_HEADERS)) === 'created') return true;
  const existing = await readDocument(store, key, MAX_DOCUMENT_BYTES);
  return existing?.owner === owner;
}

/** Null when the plan is missing: its rollup exists then. Throws `StoreError`. */
export async function readPlan(store: ObjectStore, hour: string, n: number): Promise<CompactionPlan | null> {
  const key = compactionPlanKey(hour, n);
  // Read again: between the two calls a done plan can be claimed once more, for a moment.
  for (let reads = 1; reads <= 3; reads += 1) {
    const document = await readDocument(store, key, MAX_DOCUMENT_BYTES);
    if (document?.v === 1 && Array.isArray(document.segments)) {
      return { n, segments: document.segments.filter((name) => typeof name === 'string') };
    }
    if (document === null && (await store.head(key)) === null) return null;
  }
  // Its segments are unknown, so that any other file of the hour could repeat them.
  throw new StoreError('read', `${key} is no plan of a compaction, or one of a newer version`);
}
