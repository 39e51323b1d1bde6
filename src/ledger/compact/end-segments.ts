import { createHash } from 'node:crypto';
import type { LedgerLine } from '../../domain/delivery.js';
import { parquetKey, rollupKey } from '../ledger-keys.js';
import { type ListedSegment, listSegments } from '../list-segments.js';
import { LedgerFileError } from '../parquet/ledger-file-error.js';
import { openLedgerFile } from '../parquet/open-ledger-file.js';
import { readAhead } from '../read-ahead.js';
import { readSegment } from '../read-segment.js';
import { createCoverage } from '../rollup/covered-numbers.js';
import type { Rollup } from '../rollup/rollup.js';
import type { CompactionParts } from './compaction-parts.js';
import { readHourFiles } from './hour-files.js';

/**
 * Milliseconds from the last rollup of an hour to the end of its segments: a reader that listed the rollups before this one was written
 * reads them.
 */
const READERS_GRACE = 3_600_000;

export interface EndSegmentsOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called for every segment that was deleted. */
  readonly onDeleted?: () => void;
  /** Called with the reason when segments stay because their file cannot replace them. */
  readonly onFault?: (reason: string) => void;
}

/**
 * Deletes the segments of a compacted hour whose every line was found in a file that was just read back. Segments with lines that
 * no file holds stay. Throws `StoreError`, and the signal's reason.
 */
export async function endSegments(
  parts: CompactionParts,
  hour: string,
  { signal, onDeleted, onFault }: EndSegmentsOptions = {},
): Promise<void> {
  const { store, clock, concurrency = 16 } = parts;
  const { rollups, isCompacted, faults } = await readHourFiles(store, hour);
  for (const { message } of faults) onFault?.(message);
  if (!isCompacted) return;
  const last = await store.head(rollupKey(hour, rollups.length));
  if (last === null || clock() - last.modifiedAt.getTime() < READERS_GRACE) return;
  const existing: ListedSegment[] = [];
  for await (const segment of listSegments(store, hour)) existing.push(segment);
  for (const rollup of rollups) {
    const isCovered = createCoverage([rollup]);
    const covered = existing.filter(isCovered).map(({ key }) => key);
    const replaced = await replacedSegments(parts, rollup, covered, signal).catch((error: unknown) => {
      if (!(error instanceof LedgerFileError)) throw error;
      onFault?.(error.message);
      return [];
    });
    const deletions = readAhead(replaced, concurrency, (key) => store.delete(key));
    for await (const _ of deletions) {
      onDeleted?.();
      signal?.throwIfAborted();
    }
  }
}

/** Keys of the segments that hold nothing but lines that the file holds as well. Throws `LedgerFileError` when it cannot replace them. */
async function replacedSegments(
  { store, concurrency = 16, pause }: CompactionParts,
  { hour, n, parquet }: Rollup,
  keys: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  const replaced: string[] = [];
  const missing = new Set<string>();
  const segments = readAhead(keys, concurrency, async (key) => ({
    key,
    parsed: await readSegment(store, key),
  }));
  for await (const { key, parsed } of segments) {
    signal?.throwIfAborted();
    if (parsed === null || parsed.brokenLines.length + parsed.newerLines.length > 0) continue;
    for (const { line } of parsed.entries) {
      missing.add(lineDigest(line));
      await pause?.();
    }
    replaced.push(key);
  }
  if (missing.size === 0) return replaced;
  const file = parquetKey(hour, n);
  if (parquet === null) throw new LedgerFileError(file, 'its rollup has none, but segments with lines');
  const content = await openLedgerFile(store, parquet);
  for (const index of content.rowGroups.keys()) {
    for (const { line } of await content.readLines(index)) {
      missing.delete(lineDigest(line));
      await pause?.();
    }
  }
  // A damaged bloom filter hides jobs.
  await content.rowGroupsOfJobs([]);
  if (missing.size === 0) return replaced;
  const lines = missing.size === 1 ? 'line' : 'lines';
  throw new LedgerFileError(file, `it lacks ${missing.size} ${lines} of its segments, which were kept`);
}

/** The texts of the lines of a large file would take its whole size in memory. */
function lineDigest(line: LedgerLine): string {
  return createHash('sha256').update(JSON.stringify(line)).digest('base64');
}
