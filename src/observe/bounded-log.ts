interface BoundedLog {
  /** Calls `write` unless this topic has reached its limit within this second. */
  write(topic: string, write: () => void): void;
  /** Reports lines that were suppressed since the last report, and stops the timer. */
  close(): void;
}

/**
 * Writes log lines at a bounded rate, so that unauthenticated clients cannot fill the log. Topics must come from a fixed
 * set.
 *
 * @param onSuppressed called once per second and topic with the number of lines that were not written
 * @param perSecond lines per second and topic
 */
export function createBoundedLog(
  onSuppressed: (topic: string, count: number) => void,
  perSecond = 5,
): BoundedLog {
  let written = new Map<string, number>();
  let suppressed = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;

  function endWindow(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    const counts = suppressed;
    written = new Map();
    suppressed = new Map();
    for (const [topic, count] of counts) onSuppressed(topic, count);
  }

  return {
    write(topic, write) {
      timer ??= setTimeout(endWindow, 1000).unref();
      const count = written.get(topic) ?? 0;
      if (count < perSecond) {
        written.set(topic, count + 1);
        write();
      } else {
        suppressed.set(topic, (suppressed.get(topic) ?? 0) + 1);
      }
    },
    close: endWindow,
  };
}
