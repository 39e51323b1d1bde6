import type { SegmentPlace } from '../segment-key.js';

/** Place of a line in the log. It never changes, and no two lines have the same. */
export interface LinePlace extends Pick<SegmentPlace, 'writer' | 'number'> {
  /** The store's time of its segment, in milliseconds since the epoch. */
  readonly written: number;
  /** Index of the line in its segment. */
  readonly line: number;
}

/** The order of the log. */
export function comparePlaces(a: LinePlace, b: LinePlace): number {
  if (a.written !== b.written) return a.written - b.written;
  if (a.writer !== b.writer) return a.writer < b.writer ? -1 : 1;
  return a.number - b.number || a.line - b.line;
}
