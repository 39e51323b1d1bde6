import type { LedgerLine } from '../../domain/delivery.js';
import type { LedgerFileError } from '../../ledger/compact/ledger-file-error.js';
import { lostRollups } from '../../ledger/compact/lost-rollups.js';
import { DAILY_ROLLUPS_FOLDER, hourOfKey, ledgerPartition } from '../../ledger/ledger-keys.js';
import { readLedger } from '../../ledger/ledger-reader.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import type { VerifyReportBuilder } from './verify-report.js';

export interface LedgerWalk {
  readonly store: ObjectStore;
  /** ISO 8601. */
  readonly window: { readonly since: string; readonly until: string };
  /** Hours of the ledger that ended before this instant have expired, in milliseconds since the epoch. */
  readonly expiredBefore: number;
  readonly report: Pick<VerifyReportBuilder, 'ledger' | 'fault'>;
}

const HOUR = 3_600_000;
/** Hours in a row of which nothing could be read, after which the store is down rather than an object broken. */
const MAX_UNREADABLE = 3;

/**
 * Yields the lines of the window and counts what was read. When the store fails, the rest of that hour becomes a fault,
 * and the walk goes on with the next one.
 */
export async function* walkLedger({
  store,
  window,
  expiredBefore,
  report,
}: LedgerWalk): AsyncGenerator<LedgerLine> {
  const { ledger } = report;
  const damaged = new Set<string>();
  const onDamaged = ({ key, message }: LedgerFileError) => {
    if (!(hourOfKey(key) + HOUR <= expiredBefore) && !damaged.has(key)) report.fault(key, message);
    damaged.add(key);
  };
  try {
    for await (const error of lostRollups(store, window)) onDamaged(error);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    report.fault(DAILY_ROLLUPS_FOLDER, error.message);
  }
  let since = window.since;
  for (let unreadable = 0; unreadable < MAX_UNREADABLE; ) {
    let hour = startOfHour(since);
    let isRead = false;
    const lines = readLedger(store, {
      since,
      until: window.until,
      onSegment(key) {
        ledger.segments += 1;
        isRead = true;
        hour = Number.isNaN(hourOfKey(key)) ? hour : hourOfKey(key);
      },
      onBroken({ segment }) {
        ledger.broken += 1;
        if (damaged.has(segment)) return;
        damaged.add(segment);
        report.fault(segment, 'it has lines that cannot be read');
      },
      onNewer: () => (ledger.newer += 1),
      onDamaged,
    });
    try {
      for await (const line of lines) {
        ledger.lines += 1;
        const { receivedAt } = line;
        if (ledger.first === null || receivedAt < ledger.first) ledger.first = receivedAt;
        if (ledger.last === null || receivedAt > ledger.last) ledger.last = receivedAt;
        yield line;
      }
      return;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      const from = new Date(hour).toISOString();
      report.fault(ledgerPartition(from), `not read to the end: ${error.message}`);
      unreadable = isRead ? 0 : unreadable + 1;
      since = new Date(hour + HOUR).toISOString();
      if (since >= window.until) return;
    }
  }
  report.fault(null, `the ledger was not read from ${since} on`);
}

function startOfHour(instant: string): number {
  return Math.floor(Date.parse(instant) / HOUR) * HOUR;
}
