import type { LedgerLine } from '../../domain/delivery.js';
import { HOUR, startOfHour } from '../../ledger/hours.js';
import { LEDGER_FOLDER } from '../../ledger/ledger-keys.js';
import { hoursInOrder } from '../../ledger/log/log-hours.js';
import { type LineScan, scanHour } from '../../ledger/log/scan-hour.js';
import { retryingListings } from '../../ledger/retrying-reads.js';
import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { createOutageCheck } from '../../store/outage-check.js';
import { hourExists, verifyHour } from './verify-hour.js';
import type { VerifyReportBuilder } from './verify-report.js';

interface LedgerWalk {
  readonly store: ObjectStore;
  /** Times of writing, ISO 8601. */
  readonly window: { readonly since: string; readonly until: string };
  /** Compare merged segments by their bytes. */
  readonly deep: boolean;
  /** Hours of the ledger that ended before this instant have expired, in milliseconds since the epoch. */
  readonly expiredBefore: number;
  readonly report: Pick<VerifyReportBuilder, 'ledger' | 'fault'>;
}

/** Unreadable hours in a row after which the walk checks whether the store answers at all. */
const MAX_UNREADABLE = 3;

/**
 * Yields the lines of the window, counts them, and verifies that no part of the ledger is lost. When the store fails, the rest of that
 * hour becomes a fault, and the walk continues with the next one.
 */
export async function* walkLedger(given: LedgerWalk): AsyncGenerator<LedgerLine> {
  const { window, report } = given;
  const store = retryingListings(given.store);
  const walk: Walk = { ...given, store, seen: new Set(), noteLost: createLossReport(given) };
  const since = Date.parse(window.since);
  const until = Date.parse(window.until);
  const outage = createOutageCheck(MAX_UNREADABLE, () => store.identity());
  try {
    for await (const hour of hoursInOrder(store, 'oldest', since, until)) {
      if (yield* walkHour(walk, hour)) outage.succeeded();
      else if (await outage.failed()) return report.fault(null, `the ledger was not read from ${hour} on`);
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    report.fault(LEDGER_FOLDER, error.message);
  }
}

/** State of a walk. */
interface Walk extends LedgerWalk {
  /** Hours reached so far that still have a segment or a record. */
  readonly seen: Set<string>;
  /** Reports each loss once; none for hours that have expired. */
  readonly noteLost: (key: string, reason: string) => void;
}

function createLossReport({ expiredBefore, report }: LedgerWalk): Walk['noteLost'] {
  const noted = new Set<string>();
  return (key, reason) => {
    const loss = reason.includes(key) ? reason : `${key} ${reason}`;
    if (startOfHour(key) + HOUR <= expiredBefore || noted.has(loss)) return;
    noted.add(loss);
    report.fault(key, reason);
  };
}

/** Resolves to whether anything of the hour could be read. */
async function* walkHour(walk: Walk, hour: string): AsyncGenerator<LedgerLine, boolean> {
  const { store, window, report, noteLost } = walk;
  const { ledger } = report;
  let isRead = false;
  const start = startOfHour(hour);
  const scan: LineScan = {
    store,
    since: Math.max(start, Date.parse(window.since)),
    until: Math.min(start + HOUR, Date.parse(window.until)),
    // `verifyHour` has reported it.
    onFault: () => {},
    onUnreadable(key, lines) {
      ledger.unreadable += lines;
      noteLost(key, 'it has lines that cannot be read');
    },
  };
  try {
    const { objects, exists, previous } = await verifyHour({
      store,
      hour,
      deep: walk.deep,
      onLost: noteLost,
    });
    if (exists) walk.seen.add(hour);
    await findLostHour(walk, previous);
    for await (const { line } of scanHour(scan, hour)) {
      isRead = true;
      ledger.lines += 1;
      yield line;
    }
    ledger.segments += objects;
    return true;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    report.fault(LEDGER_FOLDER + hour, `not read to the end: ${error.message}`);
    return isRead;
  }
}

/** Reports the hour that a later record names as its predecessor, if no object of it exists. */
async function findLostHour({ store, window, seen, noteLost }: Walk, hour: string | null): Promise<void> {
  if (hour === null || seen.has(hour) || startOfHour(hour) + HOUR <= Date.parse(window.since)) return;
  if (startOfHour(hour) >= Date.parse(window.until) || (await hourExists(store, hour))) return;
  noteLost(LEDGER_FOLDER + hour, 'it is lost');
}
