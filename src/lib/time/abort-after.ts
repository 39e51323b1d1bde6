/**
 * Runs work with a signal that aborts with `signal`, or with a `TimeoutError` after some milliseconds. Not `AbortSignal.any`: Node (22
 * to 26) keeps 1.1 KB for each one that has a listener for as long as one of its signals lives.
 */
export async function abortAfter<Result>(
  milliseconds: number,
  signal: AbortSignal,
  work: (bounded: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const bounded = new AbortController();
  const follow = () => bounded.abort(signal.reason);
  const timer = setTimeout(
    () => bounded.abort(new DOMException('not done in time', 'TimeoutError')),
    milliseconds,
  );
  signal.addEventListener('abort', follow);
  try {
    signal.throwIfAborted();
    return await work(bounded.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', follow);
  }
}
