import type { Config } from '../config/config.js';
import type { MergeParts } from '../ledger/merge/merge-parts.js';
import type { ObjectStore } from '../store/object-store.js';

const DAY = 86_400_000;

/** Options of the merge, from the configuration. */
export function mergeParts(config: Config, store: ObjectStore): MergeParts {
  return {
    store,
    clock: Date.now,
    keepSegments: config.ledger.keepSegments,
    keepSent: config.ledger.index.days * DAY,
  };
}
