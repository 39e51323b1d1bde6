/**
 * Works on the entries of a listing with bounded concurrency, and reads no further ahead. Rejects with the first error of the listing or of
 * the work, once all started work has ended.
 */
export async function forEachConcurrently<T>(
  entries: AsyncIterable<T>,
  concurrency: number,
  work: (entry: T) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | null = null;
  try {
    for await (const entry of entries) {
      const task: Promise<void> = work(entry)
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => running.delete(task));
      running.add(task);
      if (running.size >= concurrency) await Promise.race(running);
      if (failure !== null) break;
    }
  } finally {
    await Promise.all(running);
  }
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
}
