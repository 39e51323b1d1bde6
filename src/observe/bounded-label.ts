/**
 * Turns a value from outside into a label value out of a fixed set, so that no sender can make series:
 * what is not in the set is `other`, what is absent is `none`.
 */
export type BoundedLabel = (value: string | null | undefined) => string;

export function boundedLabel(known: Iterable<string>): BoundedLabel {
  const values = new Set(known);
  return (value) => {
    if (value === null || value === undefined) return 'none';
    return values.has(value) ? value : 'other';
  };
}
