/** Waits for all, then throws the first failure: nothing goes on running after the caller has learned of it. Undefined counts as done. */
export async function settleAll(work: readonly (Promise<void> | undefined)[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) {
    if (result.status === 'rejected') throw result.reason;
  }
}
