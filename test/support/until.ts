/**
 * Waits until a condition holds; the test's own time-out is the limit. The longer it has waited the less often it asks, because asking a
 * service takes the CPU that others need to get there.
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const began = performance.now();
  while (!(await condition())) {
    const pause = Math.min(100, Math.max(10, (performance.now() - began) / 10));
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
