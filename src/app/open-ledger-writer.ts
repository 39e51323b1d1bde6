import type { Config } from '../config/config.js';
import { createLedger, type Ledger, type LedgerOptions } from '../ledger/write/ledger.js';
import type { ObjectStore } from '../store/object-store.js';
import { markCopyServed } from '../store/probe/copy-mark.js';

/** The ledger writer of this process. Makes no request before the first line. */
export function openLedgerWriter(
  { replicaName, ledger, limits }: Config,
  store: ObjectStore,
  onSegment?: LedgerOptions['onSegment'],
): Ledger {
  return createLedger({
    store,
    replica: replicaName,
    maxLinger: ledger.maxLinger,
    // Half of the deliveries that can be in flight: when all of them wait for this segment, no further line comes to fill it.
    fullSegment: Math.ceil(limits.maxConcurrentDeliveries / 2),
    onSegment,
    // A refusal or an access may be recorded before the store is proven. In an unfinished copy its segment would be removed by the next run
    // of `copy-store`, which leaves a gap.
    admit: () => markCopyServed(store),
  });
}
