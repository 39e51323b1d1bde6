import type { Config } from '../config/config.js';
import type { CompactionParts } from '../ledger/compact/compaction-parts.js';
import type { ObjectStore } from '../store/object-store.js';

/** Compaction as the configuration asks for it. */
export function compactionParts(config: Config, store: ObjectStore): CompactionParts {
  return {
    store,
    clock: Date.now,
    keepSegments: config.ledger.keepSegments,
  };
}
