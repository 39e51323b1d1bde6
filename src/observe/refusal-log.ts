import type { Logger } from './logger.js';

/** A refused request as the log tells it. */
export interface RefusalEntry {
  readonly reason: string;
  readonly source: string | null;
  readonly clientIp: string | null;
  readonly detail?: string;
}

export interface RefusalLog {
  refused(entry: RefusalEntry): void;
  /** Logs what is still held back and stops the timer. */
  close(): void;
}

export interface RefusalLogOptions {
  readonly log: Pick<Logger, 'warn'>;
  /** Lines per second and reason. Default 5. */
  readonly perSecond?: number;
}

/**
 * Warns of refusals at a bounded rate, so that strangers cannot fill the log: what is over the rate is
 * counted and told once per second and reason.
 */
export function createRefusalLog(options: RefusalLogOptions): RefusalLog {
  const { log, perSecond = 5 } = options;
  let logged = new Map<string, number>();
  let suppressed = new Map<string, number>();
  let timer: NodeJS.Timeout | null = null;

  function endWindow(): void {
    if (timer) clearTimeout(timer);
    timer = null;
    for (const [reason, count] of suppressed) {
      log.warn({ event: 'refusals-suppressed', reason, count }, `${count} more refusals: ${reason}`);
    }
    logged = new Map();
    suppressed = new Map();
  }

  return {
    refused(entry) {
      timer ??= setTimeout(endWindow, 1000).unref();
      const count = logged.get(entry.reason) ?? 0;
      if (count < perSecond) {
        logged.set(entry.reason, count + 1);
        log.warn({ event: 'refused', ...entry }, `refused: ${entry.reason}`);
      } else {
        suppressed.set(entry.reason, (suppressed.get(entry.reason) ?? 0) + 1);
      }
    },
    close: endWindow,
  };
}
