import type { Pause } from '../../lib/time/cooperative-yield.js';
import type { ObjectStore } from '../../store/object-store.js';

/** What a merge works with. */
export interface MergeParts {
  readonly store: ObjectStore;
  /** Folder of the segments. Default: the ledger's. */
  readonly folder?: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds from the end of an hour until its merged segments are deleted; null keeps them forever. */
  readonly keepSegments: number | null;
  /** Milliseconds for which it stays on record what was sent to subscribers. Default: forever, with its segments. */
  readonly keepSent?: number;
  /** Bytes of an object; it can exceed them by a segment. All of it is in memory while it is made. Default 8 MiB. */
  readonly objectBytes?: number;
  /** Segments read at once. Default 16. */
  readonly concurrency?: number;
  /** Awaited between the steps of the work; it may throw. */
  readonly pause?: Pause;
}
