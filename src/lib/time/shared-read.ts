/**
 * Reads once for all who ask meanwhile, or within a time of its beginning. A failure is not kept.
 *
 * @param holdsFor milliseconds, which may depend on the answer
 * @param read gets the time, and what it is asked with
 * @param clock milliseconds; default a monotonic one
 */
export function sharedRead<T, Asked extends readonly unknown[] = []>(
  holdsFor: number | ((answer: T) => number),
  read: (now: number, ...asked: Asked) => Promise<T>,
  clock: () => number = () => performance.now(),
): (...asked: Asked) => Promise<T> {
  let last: { readonly at: number; readonly answer: Promise<T>; holds: number } | null = null;
  return (...asked) => {
    const now = clock();
    if (last !== null && Math.abs(now - last.at) < last.holds) return last.answer;
    const begun = { at: now, answer: read(now, ...asked), holds: Number.POSITIVE_INFINITY };
    last = begun;
    begun.answer.then(
      (answer) => {
        begun.holds = typeof holdsFor === 'number' ? holdsFor : holdsFor(answer);
      },
      () => {
        if (last === begun) last = null;
      },
    );
    return begun.answer;
  };
}
