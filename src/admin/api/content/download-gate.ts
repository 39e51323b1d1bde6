import type { ServerResponse } from 'node:http';
import { Problem } from '../../../domain/problem.js';

export interface DownloadLimits {
  /** Downloads at a time. */
  readonly maxDownloads: number;
  /** Milliseconds after which a download is cut when its client reads nothing. */
  readonly downloadIdleTimeout: number;
  /** Milliseconds that a download waits for another one to end. Default 5,000. */
  readonly downloadWait?: number;
}

/**
 * Limits the number of concurrent downloads: each one holds a connection to the store (or an open file) for as long as its
 * client takes to read.
 */
export interface DownloadGate {
  /**
   * Runs a download as soon as a slot is free.
   *
   * @throws Problem `overloaded` when no slot becomes free in time
   */
  pass(response: ServerResponse, download: () => Promise<void>): Promise<void>;
}

export function createDownloadGate(limits: DownloadLimits): DownloadGate {
  const { maxDownloads, downloadIdleTimeout, downloadWait = 5_000 } = limits;
  const waiting = new Set<() => void>();
  let active = 0;

  function enter(response: ServerResponse): Promise<void> | undefined {
    if (active < maxDownloads) {
      active += 1;
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        waiting.delete(admit);
        response.off('close', refuse);
      };
      const admit = (): void => {
        leave();
        active += 1;
        resolve();
      };
      const refuse = (): void => {
        leave();
        reject(
          new Problem(
            'overloaded',
            `${maxDownloads} downloads are in flight here already; try again when one has ended.`,
          ),
        );
      };
      const timer = setTimeout(refuse, downloadWait);
      response.once('close', refuse);
      waiting.add(admit);
    });
  }

  function exit(): void {
    active -= 1;
    const [next] = waiting;
    next?.();
  }

  return {
    async pass(response, download) {
      await enter(response);
      const cut = (): void => void response.destroy();
      response.setTimeout(downloadIdleTimeout, cut);
      try {
        await download();
      } finally {
        response.off('timeout', cut);
        exit();
      }
    },
  };
}
