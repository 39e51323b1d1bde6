/** A segment as it was read from the store. */
export interface SegmentContent {
  /** Start of its hour, in milliseconds since the epoch. */
  readonly hour: number;
  readonly writer: string;
  readonly number: number;
  /** The store's time of the segment. */
  readonly written: number;
  /** Empty for a foreign object that is too large to be a segment; null: the segment is missing. */
  readonly content: Uint8Array | null;
}
