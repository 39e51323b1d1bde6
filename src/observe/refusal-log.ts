import type { ReasonCode } from '../domain/reasons.js';
import { createBoundedLog } from './bounded-log.js';
import type { Logger } from './logger.js';

/** A refused request as it is logged. */
export interface RefusalEntry {
  readonly reason: ReasonCode;
  readonly source: string | null;
  readonly clientIp: string | null;
  /** Port of a request that is not valid HTTP/1.1; absent otherwise. */
  readonly port?: 'public' | 'admin';
  readonly detail?: string;
}

export type RefusalLog = ReturnType<typeof createRefusalLog>;

/** Warns of refusals at a bounded rate per reason. */
export function createRefusalLog(log: Pick<Logger, 'warn'>) {
  const bounded = createBoundedLog((reason, count) =>
    log.warn({ event: 'refusals-suppressed', reason, count }, `${count} more refusals: ${reason}`),
  );
  return {
    refused(entry: RefusalEntry): void {
      bounded.write(entry.reason, () => log.warn({ event: 'refused', ...entry }, `refused: ${entry.reason}`));
    },
    /** Reports suppressed lines and stops the timer. */
    close: bounded.close,
  };
}
