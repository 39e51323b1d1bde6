/** Waits for all, then throws the first failure: nothing goes on running after the caller has learned of it. */
export async function settleAll<T>(work: readonly (Promise<T> | T)[]): Promise<T[]> {
  const values: T[] = [];
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') throw result.reason;
    values.push(result.value);
  }
  return values;
}
