import { cooperativeYield } from '../../lib/time/cooperative-yield.js';
import { LEDGER_FOLDER } from '../ledger-keys.js';
import { hoursInOrder } from './log-hours.js';
import { type LineScan, type ScannedLine, scanHour } from './scan-hour.js';

/**
 * All lines of a range as a stream, hour by hour from the oldest, in bounded memory: within an hour by writer and number. Rejects with
 * `StoreError`.
 */
export async function* scanLines(scan: LineScan): AsyncGenerator<ScannedLine> {
  const { store, since, until, onFault } = scan;
  const pause = cooperativeYield();
  let last: string | null = null;
  for await (const hour of hoursInOrder(store, 'oldest', since, until - 1)) {
    const before = last;
    last = hour;
    // The first hour of the range follows one outside of it, which need not have been listed.
    const onPrevious = (previous: string) => {
      if (before === null || previous <= before) return;
      onFault(`${LEDGER_FOLDER}${previous}, which is missing`, LEDGER_FOLDER + previous);
    };
    for await (const scanned of scanHour(scan, hour, onPrevious)) {
      yield scanned;
      await pause();
    }
  }
}
