/**
 * Maps a value from outside to a label value of a fixed set, so that no sender can create series: an unknown value becomes
 * `other`, a missing one `none`.
 */
export type BoundedLabel = (value: string | null | undefined) => string;

export function boundedLabel(known: Iterable<string>): BoundedLabel {
  const values = new Set(known);
  return (value) => {
    if (value === null || value === undefined) return 'none';
    return values.has(value) ? value : 'other';
  };
}
