import type { ReasonCode } from '../domain/reasons.js';
import { createBoundedLog } from './bounded-log.js';
import type { Logger } from './logger.js';

/** A refused request as it is logged. */
interface RefusalEntry {
  readonly reason: ReasonCode;
  readonly source: string | null;
  readonly clientIp: string | null;
  /** Port of a request that is not valid HTTP/1.1; absent otherwise. */
  readonly port?: 'public' | 'admin';
  readonly detail?: string;
}

export interface RefusalLog {
  refused(entry: RefusalEntry): void;
  /** Reports suppressed lines and stops the timer. */
  close(): void;
}

/** Warns of refusals at a bounded rate per reason. */
export function createRefusalLog(log: Pick<Logger, 'warn'>): RefusalLog {
  const bounded = createBoundedLog((reason, count) =>
    log.warn({ event: 'refusals-suppressed', reason, count }, `${count} more refusals: ${reason}`),
  );
  return {
    refused(entry) {
      bounded.write(entry.reason, () => log.warn({ event: 'refused', ...entry }, `refused: ${entry.reason}`));
    },
    close: bounded.close,
  };
}
