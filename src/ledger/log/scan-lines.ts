import { cooperativeYield } from '../../time/cooperative-yield.js';
import { readHourFiles } from '../compact/hour-files.js';
import { LEDGER_FOLDER, rollupKey } from '../ledger-keys.js';
import type { LineScan, ScannedLine } from './line-scan.js';
import { hoursInOrder } from './log-hours.js';
import { scanHour } from './scan-hour.js';
import { scanRollup } from './scan-rollup.js';

/**
 * All lines of a range as a stream, hour by hour from the oldest, in bounded memory: within an hour by writer and number, in a compacted one
 * by file. Rejects with `StoreError`.
 */
export async function* scanLines(scan: LineScan): AsyncGenerator<ScannedLine> {
  const { store, since, until, onFault } = scan;
  const pause = cooperativeYield();
  let last: string | null = null;
  for await (const hour of hoursInOrder(store, 'oldest', since, until - 1)) {
    const { rollups, isCompacted, faults } = await readHourFiles(store, hour);
    for (const { message, key } of faults) onFault(message, key);
    const previous = rollups[0]?.previous ?? null;
    // The first hour of the range may follow one that nobody asked for.
    if (last !== null && previous !== null && previous > last)
      onFault(`${LEDGER_FOLDER}${previous}, which is missing`, LEDGER_FOLDER + previous);
    last = hour;
    const parts = isCompacted ? rollups.map((rollup) => scanRollup(scan, rollup)) : [scanHour(scan, hour)];
    for (const { hour, n, broken, newer } of isCompacted ? rollups : [])
      if (broken + newer > 0)
        onFault(
          `${rollupKey(hour, n)} counts lines that cannot be read (${broken + newer})`,
          rollupKey(hour, n),
        );
    for (const part of parts) {
      for await (const scanned of part) {
        yield scanned;
        await pause();
      }
    }
  }
}
