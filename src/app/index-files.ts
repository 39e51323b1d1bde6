import { join } from 'node:path';
import type { Config } from '../config/config.js';
import type { IndexFiles } from '../index/open-index.js';

type FilesFor = (storeId: string) => IndexFiles;

/**
 * The index of a service.
 *
 * @param cache folder for what this machine may forget; null: it has none
 */
export function indexOfService({ ledger }: Config, cache: string | null): FilesFor {
  const { path } = ledger.index;
  return (storeId) => ({ path: path ?? (cache && join(cache, `index-${storeId}.sqlite`)) });
}

/**
 * The index of a command: the one of a service that runs beside it; else one that commands share. They never write the file of a service, which
 * would find it in use at its start.
 */
export function indexOfCommand(config: Config, cache: string | null): FilesFor {
  const ofService = indexOfService(config, cache);
  return (storeId) => ({
    path: cache && join(cache, `commands-${storeId}.sqlite`),
    beside: ofService(storeId).path,
  });
}
