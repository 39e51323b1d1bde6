/** Milliseconds: less than Jest gives a test, which would not reach its `finally` then, and keep what it started, and Jest, running. */
const LIMIT = 170_000;

/**
 * Waits until a condition holds. The longer it has waited the less often it asks, because asking a service takes the CPU that others need
 * to get there.
 *
 * @param atLeast milliseconds between two questions, for those that cost a command
 */
export async function until(condition: () => boolean | Promise<boolean>, atLeast = 10): Promise<void> {
  const began = performance.now();
  while (!(await condition())) {
    const waited = performance.now() - began;
    if (waited > LIMIT) throw new Error(`Waited ${LIMIT / 1000} s for ${condition}`);
    const pause = Math.max(atLeast, Math.min(250, waited / 4));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
