/** Asks `load` at most once per `milliseconds`, however many ask; a failure is not remembered. */
export function brieflyCached<T>(
  milliseconds: number,
  load: () => Promise<T>,
  clock: () => number = Date.now,
): () => Promise<T> {
  let held: { readonly at: number; readonly value: Promise<T> } | null = null;
  return () => {
    if (held !== null && clock() - held.at < milliseconds) return held.value;
    const value = load();
    const mine = { at: clock(), value };
    held = mine;
    value.catch(() => {
      if (held === mine) held = null;
    });
    return value;
  };
}
