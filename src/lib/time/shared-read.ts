/**
 * Reads once for all who ask meanwhile, or within a time of its beginning. A failure is not kept.
 *
 * @param holdsFor milliseconds
 * @param clock milliseconds; default a monotonic one
 */
export function sharedRead<T>(
  holdsFor: number,
  read: (now: number) => Promise<T>,
  clock: () => number = () => performance.now(),
): () => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T>; isReading: boolean } | null = null;
  return () => {
    const now = clock();
    if (last !== null && (last.isReading || Math.abs(now - last.at) < holdsFor)) return last.answer;
    const begun = { at: now, answer: read(now), isReading: true };
    last = begun;
    begun.answer.then(
      () => {
        begun.isReading = false;
      },
      () => {
        if (last === begun) last = null;
      },
    );
    return begun.answer;
  };
}
