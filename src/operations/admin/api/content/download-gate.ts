import type { ServerResponse } from 'node:http';
import { allowPauses } from '../../../../lib/http/connections/close-unread.js';
import { createSlots } from '../../access/slots.js';

export interface DownloadLimits {
  /** Concurrent downloads. */
  readonly maxDownloads: number;
  /** Milliseconds after which a download is aborted when its client reads nothing. */
  readonly downloadIdleTimeout: number;
  /** Milliseconds that a download waits for a slot. Default 5,000. */
  readonly downloadWait?: number;
}

/**
 * Runs a download as soon as a slot is free: each one holds a connection to the store, or an open file, as long as its client reads.
 *
 * @throws Problem `overloaded` when no slot becomes free in time
 */
export type DownloadGate = (response: ServerResponse, download: () => Promise<void>) => Promise<void>;

export function createDownloadGate(limits: DownloadLimits): DownloadGate {
  const { maxDownloads, downloadIdleTimeout, downloadWait = 5_000 } = limits;
  const line = createSlots(
    () => maxDownloads,
    downloadWait,
    `${maxDownloads} downloads are in flight here already; try again when one has ended.`,
  );

  return async (response, download) => {
    const leaving = new AbortController();
    const leave = () => leaving.abort();
    response.once('close', leave);
    const send = async () => {
      response.off('close', leave);
      const cut = (): void => void response.destroy();
      allowPauses(response);
      response.setTimeout(downloadIdleTimeout, cut);
      await download().finally(() => response.off('timeout', cut));
    };
    await line(leaving.signal, send).finally(() => response.off('close', leave));
  };
}
