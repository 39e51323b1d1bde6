import { LEDGER_FOLDER } from '../ledger-keys.js';
import { isSegmentKey, readSegment } from '../ledger-reader.js';
import { readAhead } from '../read-ahead.js';
import type { CompactionParts } from './compaction-parts.js';
import { type FinishedFile, readFinishedFiles } from './hour-files.js';
import { LedgerFileError } from './ledger-file-error.js';
import { lineDigest, readDigests } from './line-digest.js';

/**
 * Milliseconds from a rollup to the end of its segments: a reader that listed the rollups before this one was written
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
 * Deletes the segments of an hour whose every line was found in a file that was just read back. Segments with lines that
 * no file holds stay. Throws `StoreError`, and the signal's reason.
 */
export async function endSegments(
  parts: CompactionParts,
  hour: string,
  { signal, onDeleted, onFault }: EndSegmentsOptions = {},
): Promise<void> {
  const { store, clock, concurrency = 16 } = parts;
  const folder = `${LEDGER_FOLDER}${hour}`;
  const existing = new Set<string>();
  for await (const { key } of store.list(folder))
    if (isSegmentKey(key)) existing.add(key.slice(folder.length));
  for (const file of await readFinishedFiles(store, hour)) {
    if (clock() - file.finishedAt.getTime() < READERS_GRACE) continue;
    const names = file.segments.filter((name) => existing.has(name));
    const replaced = await replacedSegments(parts, folder, file, names, signal).catch((error: unknown) => {
      if (!(error instanceof FileFault)) throw error;
      onFault?.(error.message);
      return [];
    });
    const deletions = readAhead(replaced, concurrency, (name) => store.delete(folder + name));
    for await (const _ of deletions) {
      onDeleted?.();
      signal?.throwIfAborted();
    }
  }
}

/** The file cannot replace its segments. */
class FileFault extends Error {}

/** Names of the segments that hold nothing but lines that the file holds as well. */
async function replacedSegments(
  parts: CompactionParts,
  folder: string,
  { parquetKey, extent }: FinishedFile,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<string[]> {
  const { store, concurrency = 16, pause } = parts;
  const replaced: string[] = [];
  const missing = new Set<string>();
  const segments = readAhead(names, concurrency, async (name) => ({
    name,
    parsed: await readSegment(store, folder + name),
  }));
  for await (const { name, parsed } of segments) {
    signal?.throwIfAborted();
    if (parsed === null || parsed.brokenLines.length + parsed.newerLines.length > 0) continue;
    for (const { line } of parsed.entries) {
      missing.add(lineDigest(line));
      await pause?.();
    }
    replaced.push(name);
  }
  if (missing.size === 0) return replaced;
  if (parquetKey === null) throw new FileFault(`${folder} holds lines that its rollup does not know`);
  const file = { key: parquetKey, extent };
  await readDigests(store, file, (digest) => missing.delete(digest), pause).catch((error: unknown) => {
    throw error instanceof LedgerFileError ? new FileFault(error.message) : error;
  });
  if (missing.size === 0) return replaced;
  throw new FileFault(
    `${parquetKey} lacks ${missing.size} ${missing.size === 1 ? 'line' : 'lines'} of its segments, which were kept`,
  );
}
