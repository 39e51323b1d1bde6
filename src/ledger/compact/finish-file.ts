import { DOCUMENT_HEADERS } from '../../store/read-document.js';
import { parquetKey, rollupKey } from '../ledger-keys.js';
import { writeLedgerFile } from '../parquet/ledger-parquet.js';
import { type SortableLine, sortLines } from '../parquet/sort-lines.js';
import { readAhead } from '../read-ahead.js';
import { readSegment } from '../read-segment.js';
import { buildRollup } from '../rollup/build-rollup.js';
import { rangesOf, segmentsIn } from '../rollup/covered-numbers.js';
import type { CoveredNumbers, Rollup } from '../rollup/rollup.js';
import { encodeRollup } from '../rollup/rollup-document.js';
import { segmentKey } from '../segment-key.js';
import type { CompactionParts } from './compaction-parts.js';
import type { CompactionPlan } from './compaction-plan.js';

export interface FinishOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with what is damaged or lost and does not hinder the compaction. */
  readonly onFault?: ((reason: string) => void) | undefined;
}

interface PlannedLines {
  readonly lines: readonly SortableLine[];
  /** The segments that were read. */
  readonly writers: CoveredNumbers;
  readonly broken: number;
  readonly newer: number;
}

/**
 * Makes the n-th Parquet file of a plan, then its rollup, with which the file begins to count. Several processes may do so at once, and
 * a later one again: the same segments give the same bytes. Resolves to the rollup, or to null when another process was
 * faster. Throws `StoreError`, and the signal's reason.
 */
export async function finishFile(
  parts: CompactionParts,
  hour: string,
  { previous, files }: CompactionPlan,
  n: number,
  options: FinishOptions = {},
): Promise<Rollup | null> {
  const { store } = parts;
  const { lines, ...planned } = await readPlannedLines(parts, hour, files[n - 1] ?? {}, options);
  options.signal?.throwIfAborted();
  const builder = buildRollup();
  const key = parquetKey(hour, n);
  const parquet =
    lines.length === 0 ? null : await writeLedgerFile(store, key, lines, builder.add, parts.pause);
  options.signal?.throwIfAborted();
  const rollup = builder.finish({ hour, n, files: files.length, previous, parquet, ...planned });
  const result = await store.create(rollupKey(hour, n), encodeRollup(rollup), DOCUMENT_HEADERS);
  return result === 'created' ? rollup : null;
}

async function readPlannedLines(
  { store, concurrency = 16, pause }: CompactionParts,
  hour: string,
  planned: CoveredNumbers,
  { signal, onFault }: FinishOptions,
): Promise<PlannedLines> {
  const lines: SortableLine[] = [];
  const found: { writer: string; number: number }[] = [];
  let broken = 0;
  let newer = 0;
  const reads = readAhead(segmentsIn(planned), concurrency, async (place) => {
    const key = segmentKey({ hour, ...place });
    return { place, key, parsed: await readSegment(store, key) };
  });
  for await (const { place, key, parsed } of reads) {
    signal?.throwIfAborted();
    if (parsed === null) {
      onFault?.(`${key} is lost`);
      continue;
    }
    found.push(place);
    if (parsed.brokenLines.length > 0) onFault?.(`${key} has lines that cannot be read`);
    broken += parsed.brokenLines.length;
    newer += parsed.newerLines.length;
    for (const { line, text } of parsed.entries) {
      lines.push({ writtenAt: parsed.writtenAt, deliveryId: line.deliveryId, outcome: line.outcome, text });
    }
    await pause?.();
  }
  return { lines: sortLines(lines), writers: rangesOf(found), broken, newer };
}
