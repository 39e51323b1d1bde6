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
  /** Milliseconds for which records of sent events are kept. Default: forever, with their segments. */
  readonly keepSent?: number;
  /** Bytes of an object, which it may exceed by one segment. It is built in memory. Default 8 MiB. */
  readonly objectBytes?: number;
  /** Segments read concurrently. Default 16. */
  readonly concurrency?: number;
  /** Awaited between steps of the work; may throw. */
  readonly pause?: Pause;
}
