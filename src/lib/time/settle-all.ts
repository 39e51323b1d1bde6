/** Waits for all, then throws the first failure, so that no work still runs when the caller sees the error. */
export async function settleAll<T>(work: readonly (Promise<T> | T)[]): Promise<T[]> {
  const values: T[] = [];
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') throw result.reason;
    values.push(result.value);
  }
  return values;
}
