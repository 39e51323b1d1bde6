/**
 * Shares one read among all callers that come while it runs, or within `maxAge` of its start. A failure is not cached.
 *
 * @param maxAge milliseconds, which may depend on the result
 * @param read gets the time and the arguments of the first caller
 * @param clock milliseconds; default a monotonic one
 */
export function sharedRead<T, Args extends readonly unknown[] = []>(
  maxAge: number | ((result: T) => number),
  read: (now: number, ...args: Args) => Promise<T>,
  clock: () => number = () => performance.now(),
): (...args: Args) => Promise<T> {
  let last: { readonly at: number; readonly result: Promise<T>; maxAge: number } | null = null;
  return (...args) => {
    const now = clock();
    if (last !== null && Math.abs(now - last.at) < last.maxAge) return last.result;
    const current = { at: now, result: read(now, ...args), maxAge: Number.POSITIVE_INFINITY };
    last = current;
    current.result.then(
      (result) => {
        current.maxAge = typeof maxAge === 'number' ? maxAge : maxAge(result);
      },
      () => {
        if (last === current) last = null;
      },
    );
    return current.result;
  };
}
