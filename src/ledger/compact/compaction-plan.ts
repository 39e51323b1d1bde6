import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { DOCUMENT_HEADERS, readDocument } from '../../store/read-document.js';
import { compactionPlanKey } from '../ledger-keys.js';
import { type ListedSegment, listSegments } from '../list-segments.js';
import { rangesOf } from '../rollup/covered-numbers.js';
import type { CoveredNumbers } from '../rollup/rollup.js';

/**
 * Which segments each file of an hour covers. Made once for an hour that is whole, by conditional create, and deleted after the last
 * rollup, so that all processes make the same files (docs/decisions/ledger.md).
 */
export interface CompactionPlan {
  readonly previous: string | null;
  /** The first is of file 1. */
  readonly files: readonly CoveredNumbers[];
}

export interface ClaimedPlan extends CompactionPlan {
  /** When the store wrote it; null when this call made it. */
  readonly madeBefore: Date | null;
}

/** Far above the ranges of thousands of files. */
const MAX_DOCUMENT_BYTES = 64 * 1024 * 1024;

/**
 * The plan of an hour, which is made if there is none; null for an hour without segments, and for one that another process has finished
 * meanwhile. Throws `StoreError`.
 */
export async function claimPlan(
  store: ObjectStore,
  hour: string,
  previous: string | null,
  fileBytes: number,
): Promise<ClaimedPlan | null> {
  const known = await readPlan(store, hour);
  if (known !== null) return known;
  const files = splitIntoFiles(await collectSegments(store, hour), fileBytes);
  if (files.length === 0) return null;
  const body = Buffer.from(JSON.stringify({ v: 1, hour, previous, files }));
  const result = await store.create(compactionPlanKey(hour), body, DOCUMENT_HEADERS);
  return result === 'created' ? { previous, files, madeBefore: null } : readPlan(store, hour);
}

async function readPlan(store: ObjectStore, hour: string): Promise<ClaimedPlan | null> {
  const key = compactionPlanKey(hour);
  const found = await store.head(key);
  if (found === null) return null;
  const document = await readDocument(store, key, MAX_DOCUMENT_BYTES);
  if (document === null && (await store.head(key)) === null) return null;
  if (document?.v !== 1 || !Array.isArray(document.files))
    throw new StoreError('read', `${key} is no plan of a compaction, or one of a newer version`);
  const previous = typeof document.previous === 'string' ? document.previous : null;
  return { previous, files: document.files, madeBefore: found.modifiedAt };
}

async function collectSegments(store: ObjectStore, hour: string): Promise<ListedSegment[]> {
  const segments: ListedSegment[] = [];
  const latest = new Map<string, number>();
  for await (const { key: _, ...segment } of listSegments(store, hour)) {
    // A file has consecutive numbers of each writer, whatever the clocks of a store's servers say.
    const writtenAt = Math.max(segment.writtenAt, latest.get(segment.writer) ?? 0);
    latest.set(segment.writer, writtenAt);
    segments.push({ ...segment, key: '', writtenAt });
  }
  return segments;
}

/** By the time they were written, so that a file is a part of the hour. */
function splitIntoFiles(segments: ListedSegment[], fileBytes: number): CoveredNumbers[] {
  const files: CoveredNumbers[] = [];
  let file: ListedSegment[] = [];
  let bytes = 0;
  // The order of writers and numbers stays where times are equal.
  for (const segment of segments.sort((a, b) => a.writtenAt - b.writtenAt)) {
    if (file.length > 0 && bytes + segment.size > fileBytes) {
      files.push(rangesOf(file));
      file = [];
      bytes = 0;
    }
    file.push(segment);
    bytes += segment.size;
  }
  if (file.length > 0) files.push(rangesOf(file));
  return files;
}
