import { join } from 'node:path';
import type { Config } from '../config/config.js';
import { cacheFolder } from '../config/load/environment.js';
import { indexInThread } from '../index/fill/index-in-thread.js';
import type { StartIndex } from '../index/fill/open-index-of-store.js';
import { quietThread } from '../index/fill/quiet-thread.js';
import { createLedgerView, type LedgerView } from '../index/ledger-view.js';
import type { IndexFiles, IndexPlace } from '../index/open-index.js';
import type { ObjectStore } from '../store/object-store.js';
import { openStore } from '../store/open-store.js';
import { measureStore, type OnStoreCall } from '../store/probe/measure-store.js';
import { wholeListings } from '../store/whole-listings.js';
import { storeOptions } from './store/store-options.js';

/** The store and what its ledger says: all that a command needs which only asks. */
export interface OpenLedger {
  readonly store: ObjectStore;
  /** Reads nothing, and opens no index, before its first use. */
  readonly view: LedgerView;
  close(): Promise<void>;
}

export interface OpenLedgerOptions {
  /** Place of the index, by the id of the store. */
  readonly indexFiles: (storeId: string) => IndexFiles;
  /** Default: in a worker. */
  readonly startIndex?: StartIndex | undefined;
  /** Start of the index, when it reaches further back than usual. */
  readonly since?: Date | undefined;
  /** The store as the ledger and its reader ask it, such as one that gives up sooner. Default: as it is. */
  readonly asked?: ((store: ObjectStore) => ObjectStore) | undefined;
  /** Each is called after every call of the store. Further ones may be added later. */
  readonly onStoreCall?: readonly OnStoreCall[];
  /** What an operator should know of the store although nothing failed. */
  readonly onStoreNotice?: (message: string) => void;
  /** Keys of objects that are there: a listing that lacks one fails. */
  readonly knownKeys?: () => readonly string[];
  /** Called when the index was opened. */
  readonly onIndexOpened?: ((place: IndexPlace) => void) | undefined;
}

const DAY = 86_400_000;
/** Milliseconds that may pass until a command asks: `--since 30d` of 30 days is what the index of a receiver has. */
const SLACK = 60_000;

/** Nothing is written or asked before the first use. */
export async function openLedger(
  config: Config,
  {
    indexFiles,
    startIndex,
    since,
    asked = (store) => store,
    onStoreCall,
    onStoreNotice,
    knownKeys,
    onIndexOpened,
  }: OpenLedgerOptions,
): Promise<OpenLedger> {
  const opened = await openStore({ ...storeOptions(config), onNotice: onStoreNotice });
  const checked = knownKeys ? wholeListings(opened, knownKeys) : opened;
  const store = asked(onStoreCall ? measureStore(checked, onStoreCall) : checked);
  const { days, maxBytes } = config.ledger.index;
  const reach = since === undefined ? 0 : Date.now() - since.getTime();
  const view = createLedgerView({
    store,
    retention: config.speech.retention,
    // The index of a receiver reaches no further than it usually does.
    filesFor: reach < days * DAY + SLACK ? indexFiles : (storeId) => ({ path: indexFiles(storeId).path }),
    startIndex,
    subscribers: Object.keys(config.subscribers),
    reach: Math.max(days * DAY, reach),
    maxBytes,
    onOpened: onIndexOpened,
  });
  return {
    store,
    view,
    async close() {
      await view.stop();
      await store.close();
    },
  };
}

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
 * The index of a command: the one of a service that runs beside it; else one that commands share. They never write the file of a service,
 * which would find it in use at its start. A command takes no callbacks that a question could hold up, so that it needs no worker.
 */
export function indexOfCommand(config: Config): Pick<OpenLedgerOptions, 'indexFiles' | 'startIndex'> {
  const cache = cacheFolder();
  const ofService = indexOfService(config, cache);
  return {
    indexFiles: (storeId) => ({
      path: cache && join(cache, `commands-${storeId}.sqlite`),
      sharedPath: ofService(storeId).path,
    }),
    startIndex: (files, storeId) => {
      quietThread();
      return indexInThread(files, storeId);
    },
  };
}
