/** Pairs of an entry and a later one with the same key. */
export function* repeated<T>(
  entries: readonly T[],
  keyOf: (entry: T) => string,
): Generator<[first: T, second: T]> {
  const seen = new Map<string, T>();
  for (const entry of entries) {
    const first = seen.get(keyOf(entry));
    if (first === undefined) seen.set(keyOf(entry), entry);
    else yield [first, entry];
  }
}
