import type { Logger } from '../observe/logger.js';
import { findJournals, type RescueObserver, type RescueParts, rescueSessions } from './rescue-sessions.js';

export interface RegularRescue {
  /** Ends the looking; waits for a rescue under way. */
  stop(): Promise<void>;
}

export interface RegularRescueOptions {
  readonly parts: Omit<RescueParts, 'observer'>;
  readonly log: Logger;
  /** Milliseconds between looks; a look reads one local folder. */
  readonly interval: number;
}

/** Archives what killed `capture` processes left on this machine, now and whenever there is something new. */
export function rescueRegularly({ parts, log, interval }: RegularRescueOptions): RegularRescue {
  const observer = logging(log);
  let underWay: Promise<void> | null = null;

  const look = async (): Promise<void> => {
    await rescueSessions({ ...parts, observer }, await findJournals({ ...parts, observer }));
  };
  const tick = (): void => {
    underWay ??= look().finally(() => {
      underWay = null;
    });
  };

  tick();
  const timer = setInterval(tick, interval).unref();
  return {
    async stop() {
      clearInterval(timer);
      await underWay;
    },
  };
}

function logging(log: Logger): RescueObserver {
  /** A journal that cannot be archived is found again at each look, and reported once. */
  const reported = new Set<string>();
  const first = (path: string): boolean => !reported.has(path) && reported.add(path) !== undefined;
  return {
    onFound: (path) =>
      void (
        first(`${path} found`) && log.warn({ event: 'session-found', path }, 'a live session was cut short')
      ),
    onArchived: (path, jobId, items) =>
      log.info({ event: 'session-archived', path, jobId, items }, 'its transcript is archived'),
    onLeft: (path, reason) =>
      void (
        first(path) &&
        log.error(
          { event: 'session-left', path, reason },
          'a live session that was cut short is not archived',
        )
      ),
  };
}
