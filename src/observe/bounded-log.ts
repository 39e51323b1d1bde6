import type { Logger } from './logger.js';

export type BoundedLog = ReturnType<typeof createBoundedLog>;

/** Lines per second and topic. */
const PER_SECOND = 5;

/**
 * Writes log lines at a bounded rate, so that clients cannot fill the log. Further lines within a second are replaced by one line with
 * their number. Topics must come from a fixed set.
 */
export function createBoundedLog(log: Pick<Logger, 'warn'>) {
  let counts = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;

  function endWindow(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    const ended = counts;
    counts = new Map();
    for (const [topic, written] of ended) {
      const count = written - PER_SECOND;
      if (count > 0) log.warn({ event: 'suppressed', topic, count }, `${count} more: ${topic}`);
    }
  }

  return {
    /** Calls `write` unless this topic has reached its limit within this second. */
    write(topic: string, write: () => void): void {
      timer ??= setTimeout(endWindow, 1000).unref();
      const count = (counts.get(topic) ?? 0) + 1;
      counts.set(topic, count);
      if (count <= PER_SECOND) write();
    },
    /** Reports what was suppressed since the last report, and stops the timer. */
    close: endWindow,
  };
}
