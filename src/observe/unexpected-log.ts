import { createBoundedLog } from './bounded-log.js';
import type { Logger } from './logger.js';

export interface UnexpectedLog {
  /** Logs an error that is nobody's contract, with its stack. */
  unexpected(error: unknown): void;
  /** Logs how many are still held back and stops the timer. */
  close(): void;
}

/** Logs bugs at a bounded rate: whoever found the request that causes one can repeat it as fast as the network allows. */
export function createUnexpectedLog(log: Pick<Logger, 'error'>): UnexpectedLog {
  const bounded = createBoundedLog({
    onSuppressed: (_topic, count) =>
      log.error({ event: 'unexpected-suppressed', count }, `${count} more unexpected errors`),
  });
  return {
    unexpected(error) {
      bounded.write('unexpected', () => log.error({ event: 'unexpected', err: error }, 'unexpected error'));
    },
    close: bounded.close,
  };
}
