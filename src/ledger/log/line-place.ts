import type { SegmentPlace } from '../segment-key.js';

/** Where a line is in the log. It never changes, and no two lines have the same. */
export interface LinePlace extends Pick<SegmentPlace, 'writer' | 'number'> {
  /** The store's time of its segment, in milliseconds since the epoch. */
  readonly written: number;
  /** Index of the line in its segment. */
  readonly line: number;
}
