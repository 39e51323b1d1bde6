import { createBoundedLog } from './bounded-log.js';
import type { Logger } from './logger.js';

interface UnexpectedLog {
  /** Logs an unexpected error with its stack. */
  unexpected(error: unknown): void;
  /** Reports suppressed lines and stops the timer. */
  close(): void;
}

/** Logs bugs at a bounded rate: a client that finds a request that causes one can repeat it at any rate. */
export function createUnexpectedLog(log: Pick<Logger, 'error'>): UnexpectedLog {
  const bounded = createBoundedLog((_topic, count) =>
    log.error({ event: 'unexpected-suppressed', count }, `${count} more unexpected errors`),
  );
  return {
    unexpected(error) {
      bounded.write('unexpected', () => log.error({ event: 'unexpected', err: error }, 'unexpected error'));
    },
    close: bounded.close,
  };
}
