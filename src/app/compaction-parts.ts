import type { CompactionParts } from '../archive/ledger/compaction/compaction-parts.js';
import type { Config } from '../config/config.js';
import type { ObjectStore } from '../store/object-store.js';

/** Milliseconds in which the line of a delivery that ended at the last moment is written. */
const LAST_LINES = 300_000;

/** Compaction as the configuration asks for it. */
export function compactionParts({ limits, ledger }: Config, store: ObjectStore): CompactionParts {
  return {
    store,
    clock: Date.now,
    closedAfter: limits.totalTimeout + LAST_LINES,
    keepSegments: ledger.keepSegments,
  };
}
