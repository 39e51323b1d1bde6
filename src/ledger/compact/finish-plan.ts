import type { LedgerLine } from '../../domain/delivery.js';
import { StoreError } from '../../store/object-store.js';
import { DOCUMENT_HEADERS } from '../../store/read-document.js';
import { LEDGER_FOLDER, parquetKey, rollupKey } from '../ledger-keys.js';
import { readSegment } from '../ledger-reader.js';
import { parseLine } from '../parse-segment.js';
import { readAhead } from '../read-ahead.js';
import { buildRollup } from './build-rollup.js';
import type { CompactionParts } from './compaction-parts.js';
import type { CompactionPlan } from './compaction-plan.js';
import { LedgerFileError } from './ledger-file-error.js';
import { writeLedgerFile } from './ledger-parquet.js';
import { lineDigest, readDigests } from './line-digest.js';
import type { Rollup } from './rollup.js';
import { type SortableLine, sortLines } from './sort-lines.js';

export interface FinishOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the reason for each segment with lines that cannot be read. */
  readonly onFault?: ((reason: string) => void) | undefined;
}

interface PlannedLines {
  readonly lines: readonly SortableLine[];
  readonly broken: number;
  readonly newer: number;
}

/**
 * Makes the Parquet file of a plan, then its rollup, with which the file begins to count. Several processes may do so at
 * once, and a later one again: the same plan gives the same files. Resolves to the rollup, or to null when another
 * process was faster. Throws `StoreError`, and the signal's reason.
 */
export async function finishPlan(
  parts: CompactionParts,
  hour: string,
  plan: CompactionPlan,
  options: FinishOptions = {},
): Promise<Rollup | null> {
  const { store } = parts;
  const { signal } = options;
  const key = rollupKey(hour, plan.n);
  const { lines, broken, newer } = await readPlannedLines(parts, hour, plan, options);
  signal?.throwIfAborted();
  const builder = buildRollup();
  let parquet: Rollup['parquet'] = null;
  if (lines.length > 0) {
    const onLine = (line: LedgerLine) => builder.add(line);
    const written = await writeLedgerFile(store, parquetKey(hour, plan.n), lines, onLine, parts.pause);
    parquet = { key: written.key, bytes: written.bytes };
    if (written.result === 'exists') {
      if ((await store.head(key)) !== null) return null;
      await compareExisting(parts, written.key, lines);
    }
  }
  if (parquet === null && (await store.head(parquetKey(hour, plan.n))) !== null)
    throw new LedgerFileError(key, 'it is missing, and so are the segments of its Parquet file');
  signal?.throwIfAborted();
  const rollup = builder.finish({ hour, segments: plan.segments, parquet, broken, newer });
  const result = await store.create(key, Buffer.from(JSON.stringify(rollup)), DOCUMENT_HEADERS);
  return result === 'created' ? rollup : null;
}

/** A process that died left the file, or somebody else put it there. Throws unless it holds exactly these lines. */
async function compareExisting(
  { store, pause }: CompactionParts,
  key: string,
  lines: readonly SortableLine[],
): Promise<void> {
  const expected = new Set<string>();
  for (const { text } of lines) {
    const line = parseLine(text);
    if (line !== null) expected.add(lineDigest(line));
    await pause?.();
  }
  let unexpected = 0;
  const found = new Set<string>();
  await readDigests(
    store,
    { key, extent: null },
    (digest) => {
      if (!expected.has(digest)) unexpected += 1;
      found.add(digest);
    },
    pause,
  );
  if (unexpected === 0 && found.size === expected.size) return;
  throw new StoreError(
    'compact',
    `${key} holds other lines than its plan: delete it, and it is written again`,
  );
}

async function readPlannedLines(
  { store, concurrency = 16, pause }: CompactionParts,
  hour: string,
  { segments }: CompactionPlan,
  { signal, onFault }: FinishOptions,
): Promise<PlannedLines> {
  const folder = `${LEDGER_FOLDER}${hour}`;
  const lines: SortableLine[] = [];
  let broken = 0;
  let newer = 0;
  // Null for a segment that a life-cycle rule deleted since.
  const reads = readAhead(segments, concurrency, async (name) => ({
    key: folder + name,
    parsed: await readSegment(store, folder + name),
  }));
  for await (const { key, parsed } of reads) {
    signal?.throwIfAborted();
    if (parsed !== null && parsed.brokenLines.length > 0) {
      broken += parsed.brokenLines.length;
      onFault?.(`${key} has lines that cannot be read`);
    }
    newer += parsed?.newerLines.length ?? 0;
    for (const { line, text } of parsed?.entries ?? []) {
      const { receivedAt, deliveryId, outcome } = line;
      lines.push({ receivedAt, deliveryId, outcome, text });
    }
    await pause?.();
  }
  return { lines: await sortLines(lines, pause), broken, newer };
}
