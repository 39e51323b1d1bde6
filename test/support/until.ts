/**
 * Waits until a condition holds; the test's own time-out is the limit. The longer it has waited the less often it asks, because asking a
 * service takes the CPU that others need to get there.
 *
 * @param atLeast milliseconds between two questions, for those that cost a command
 */
export async function until(condition: () => boolean | Promise<boolean>, atLeast = 10): Promise<void> {
  const began = performance.now();
  while (!(await condition())) {
    const pause = Math.max(atLeast, Math.min(250, (performance.now() - began) / 4));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
