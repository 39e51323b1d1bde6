import type { Logger } from '../observe/logger.js';
import { findJournals, type RescueObserver, type RescueParts, rescueSessions } from './rescue-sessions.js';

export interface RegularRescue {
  /** Stops the timer and waits for a rescue in progress. */
  stop(): Promise<void>;
}

export interface RegularRescueOptions {
  readonly parts: Omit<RescueParts, 'observer'>;
  readonly log: Logger;
  /** Milliseconds between runs; each reads one local folder. */
  readonly interval: number;
}

/** Archives the sessions of killed `capture` processes of this machine, now and at every interval. */
export function rescueRegularly({ parts, log, interval }: RegularRescueOptions): RegularRescue {
  const observer = logging(log);
  let running: Promise<void> | null = null;

  const rescue = async (): Promise<void> => {
    await rescueSessions({ ...parts, observer }, await findJournals({ ...parts, observer }));
  };
  const tick = (): void => {
    running ??= rescue().finally(() => {
      running = null;
    });
  };

  tick();
  const timer = setInterval(tick, interval).unref();
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}

function logging(log: Logger): RescueObserver {
  /** A journal that cannot be archived is found again in every run, and logged once. */
  const reported = new Set<string>();
  const first = (path: string): boolean => !reported.has(path) && reported.add(path) !== undefined;
  return {
    onFound: (path) =>
      void (
        first(`${path} found`) && log.warn({ event: 'session-found', path }, 'a live session was interrupted')
      ),
    onArchived: (path, jobId, items) =>
      log.info({ event: 'session-archived', path, jobId, items }, 'its transcript is archived'),
    onLeft: (path, reason) =>
      void (
        first(path) &&
        log.error({ event: 'session-left', path, reason }, 'an interrupted live session cannot be archived')
      ),
  };
}
