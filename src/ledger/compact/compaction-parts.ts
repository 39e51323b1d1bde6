import type { ObjectStore } from '../../store/object-store.js';
import type { Pause } from '../../time/cooperative-yield.js';

/** What a compaction works with. */
export interface CompactionParts {
  readonly store: ObjectStore;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Milliseconds from the end of an hour until its compacted segments are deleted; null keeps them forever. */
  readonly keepSegments: number | null;
  /** Text of a compacted file in bytes. All of it is in memory while the file is made. Default 48 MiB. */
  readonly fileBytes?: number;
  /** Milliseconds until a plan that was not finished counts as abandoned. Default ten minutes. */
  readonly planTimeout?: number;
  /** Segments read at once. Default 16. */
  readonly concurrency?: number;
  /** Default: gives other callbacks a turn after every two milliseconds of work. */
  readonly pause?: Pause;
}
