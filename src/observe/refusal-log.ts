import type { ReasonCode } from '../domain/reasons.js';
import type { BoundedLog } from './bounded-log.js';
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

export type LogRefusal = (entry: RefusalEntry) => void;

/** Warns of refusals. */
export function createRefusalLog(bounded: Pick<BoundedLog, 'write'>, log: Pick<Logger, 'warn'>): LogRefusal {
  return (entry) =>
    bounded.write(entry.reason, () => log.warn({ event: 'refused', ...entry }, `refused: ${entry.reason}`));
}
