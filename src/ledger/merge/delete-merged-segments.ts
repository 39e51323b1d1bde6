import { createHash } from 'node:crypto';
import { LEDGER_FOLDER, recordKey } from '../ledger-keys.js';
import { listSegments } from '../list-segments.js';
import { coveredNumbers } from '../log/covered-numbers.js';
import type { MergedHour, MergeRecord } from '../log/merge-record.js';
import { MergedHourError } from '../log/merge-record.js';
import { readMergedSegments } from '../log/merged-segments.js';
import { readAhead } from '../read-ahead.js';
import { fetchSegment } from '../read-segment.js';
import { segmentKey } from '../segment-key.js';
import { deleteEach } from './delete-each.js';
import type { MergeParts } from './merge-parts.js';

/** Milliseconds that segments outlive the last record of their hour, for readers that listed its records before. */
const READERS_GRACE = 3_600_000;

type DeleteParts = Omit<MergeParts, 'keepSegments'>;

export interface DeleteSegmentsOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called for each deleted segment. */
  readonly onDeleted?: () => void;
  /** Called with the reason when segments are kept because the merged hour cannot replace them. */
  readonly onFault?: (reason: string) => void;
}

/**
 * Deletes the segments of an hour whose merged object was just read back with the same bytes. All others are kept. Throws `StoreError`, and
 * the signal's reason.
 */
export async function deleteMergedSegments(
  parts: DeleteParts,
  hour: string,
  { records, last }: MergedHour,
  options: DeleteSegmentsOptions = {},
): Promise<void> {
  const { store, clock, folder = LEDGER_FOLDER, concurrency = 16 } = parts;
  const newest = last === 0 ? null : await store.head(recordKey(folder, hour, last));
  if (newest === null || clock() + store.clockOffset() - newest.modifiedAt.getTime() < READERS_GRACE) return;
  const existing = await Array.fromAsync(listSegments(store, hour, folder));
  for (const record of records) {
    const isCovered = coveredNumbers([record]).has;
    const keys = new Set(existing.filter(isCovered).map(({ key }) => key));
    const replaced = keys.size === 0 ? [] : await replacedBy(parts, record, keys, options);
    await deleteEach(store, replaced, concurrency, () => {
      options.onDeleted?.();
      options.signal?.throwIfAborted();
    });
  }
}

/** Keys of the segments whose bytes the object of a record has; empty when the object is damaged. */
async function replacedBy(
  { store, concurrency = 16, pause }: DeleteParts,
  record: MergeRecord,
  keys: ReadonlySet<string>,
  { signal, onFault }: DeleteSegmentsOptions,
): Promise<string[]> {
  const replaced: string[] = [];
  const whole = createHash('sha256');
  const compared = readAhead(
    readMergedSegments(store, record),
    concurrency,
    async ({ segment, content, text }) => {
      const key = segmentKey({ ...segment, hour: record.hour });
      return { key, text, content, own: keys.has(key) ? await fetchSegment(store, key) : null };
    },
  );
  try {
    for await (const { key, text, content, own } of compared) {
      signal?.throwIfAborted();
      whole.update(text);
      if (own?.content.equals(content)) replaced.push(key);
      else if (own !== null) onFault?.(`${key} differs from its merged hour, and was kept`);
      await pause?.();
    }
  } catch (error) {
    if (!(error instanceof MergedHourError)) throw error;
    onFault?.(error.message);
    return [];
  }
  if (whole.digest('hex') === record.sha256) return replaced;
  onFault?.(`${record.object}: its text is not the one that its record names`);
  return [];
}
