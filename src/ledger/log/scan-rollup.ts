import { LedgerFileError } from '../parquet/ledger-file-error.js';
import { type LedgerFile, openLedgerFile } from '../parquet/open-ledger-file.js';
import type { Rollup } from '../rollup/rollup.js';
import type { LineScan, ScannedLine } from './line-scan.js';
import { scanCovered } from './scan-hour.js';

/** The lines of a compacted file; instead of a part that is damaged or missing, those of the segments that it covers. */
export async function* scanRollup(scan: LineScan, rollup: Rollup): AsyncGenerator<ScannedLine> {
  const { parquet, hour, writers } = rollup;
  if (parquet === null) return;
  const file = await readable(scan, () => openLedgerFile(scan.store, parquet));
  if (file === null) return yield* scanCovered(scan, hour, writers);
  let last: ScannedLine | null = null;
  let rows = 0;
  for (const [index, group] of file.rowGroups.entries()) {
    const since = Math.max(scan.since, group.first);
    const until = Math.min(scan.until, group.last + 1);
    const lines = since < until ? await readable(scan, () => rowsOf(file, rollup.n, index, rows)) : [];
    const part = lines ?? scanCovered({ ...scan, since, until }, hour, writers);
    const before = last;
    for await (const scanned of part) {
      // Segments of the instant at which a part ends have lines of the next part as well.
      if (!isWithin(scan, scanned) || (before !== null && !isBehind(scanned, before))) continue;
      if (last === null || isBehind(scanned, last)) last = scanned;
      yield scanned;
    }
    rows += group.rows;
  }
}

/** Null where the file is damaged, which is said. */
async function readable<Value>(scan: LineScan, read: () => Promise<Value>): Promise<Value | null> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof LedgerFileError)) throw error;
    scan.onFault(error.message, error.key);
    return null;
  }
}

async function rowsOf(file: LedgerFile, number: number, group: number, rows: number): Promise<ScannedLine[]> {
  const lines = await file.readLines(group);
  return lines.map(({ line, writtenAt }, index) => ({
    place: { written: writtenAt, writer: '', number, line: rows + index },
    line,
  }));
}

function isWithin({ since, until }: LineScan, { place: { written } }: ScannedLine): boolean {
  return written >= since && written < until;
}

/** Files have the lines by the time at which they were written, then by their ids and outcomes. */
function isBehind(a: ScannedLine, b: ScannedLine): boolean {
  if (a.place.written !== b.place.written) return a.place.written > b.place.written;
  if (a.line.deliveryId !== b.line.deliveryId) return a.line.deliveryId > b.line.deliveryId;
  return a.line.outcome > b.line.outcome;
}
