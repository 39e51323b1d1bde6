import type { Config } from '../config/config.js';
import { createLedger, type Ledger, type LedgerOptions } from '../ledger/write/ledger.js';
import type { ObjectStore } from '../store/object-store.js';
import { serveCopy } from '../store/probe/copy-mark.js';

/** What writes the ledger of this process. Nothing is written before the first line. */
export function openLedgerWriter(
  { replicaName, ledger, limits }: Config,
  store: ObjectStore,
  onSegment?: LedgerOptions['onSegment'],
): Ledger {
  return createLedger({
    store,
    replica: replicaName,
    maxLinger: ledger.maxLinger,
    // Half of the deliveries that can be in flight: when all of them wait, nothing else arrives to fill the segment.
    fullSegment: Math.ceil(limits.maxConcurrentDeliveries / 2),
    onSegment,
    // A refusal or an access comes before the store is proven. The next run of `copy-store` would remove its segment, and leave a gap.
    admit: () => serveCopy(store),
  });
}
