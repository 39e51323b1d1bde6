import type { Config } from '../config/config.js';
import type { CompactionParts } from '../ledger/compact/compaction-parts.js';
import type { ObjectStore } from '../store/object-store.js';

/** Milliseconds in which the line of a delivery that ended at the last moment is written. */
const LAST_LINES = 300_000;

/** Milliseconds from the end of an hour of the ledger until no delivery of it can be running any more. */
export function closedAfter({ limits }: Pick<Config, 'limits'>): number {
  return limits.totalTimeout + LAST_LINES;
}

/** Compaction as the configuration asks for it. */
export function compactionParts(config: Config, store: ObjectStore): CompactionParts {
  return {
    store,
    clock: Date.now,
    closedAfter: closedAfter(config),
    keepSegments: config.ledger.keepSegments,
  };
}
