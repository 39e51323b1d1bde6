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

/** The store and a view of its ledger, for commands that only read. */
export interface OpenLedger {
  readonly store: ObjectStore;
  /** Opens the index at its first use. */
  readonly view: LedgerView;
  close(): Promise<void>;
}

export interface OpenLedgerOptions {
  /** Files of the index, by the id of the store. */
  readonly indexFiles: (storeId: string) => IndexFiles;
  /** Default: in a worker. */
  readonly startIndex?: StartIndex | undefined;
  /** Start of the index, when it must reach further back than `ledger.index.days`. */
  readonly since?: Date | undefined;
  /** Wraps the store, for example with shorter time-outs. Default: none. */
  readonly wrapStore?: ((store: ObjectStore) => ObjectStore) | undefined;
  /** Each is called after every call of the store. Further ones may be added later. */
  readonly onStoreCall?: readonly OnStoreCall[];
  /** Called with notices about the store that are not failures. */
  readonly onStoreNotice?: (message: string) => void;
  /** Keys of objects that are known to exist: a listing without one of them fails as partial. */
  readonly knownKeys?: () => readonly string[];
  /** Called when the index was opened. */
  readonly onIndexOpened?: ((place: IndexPlace) => void) | undefined;
}

const DAY = 86_400_000;
/** Milliseconds of tolerance: `--since 30d` was computed a moment ago and must still match an index of 30 days. */
const TOLERANCE = 60_000;

/** Opens the store and a view of its ledger. Makes no request before the first use. */
export async function openLedger(
  config: Config,
  {
    indexFiles,
    startIndex,
    since,
    wrapStore = (store) => store,
    onStoreCall,
    onStoreNotice,
    knownKeys,
    onIndexOpened,
  }: OpenLedgerOptions,
): Promise<OpenLedger> {
  const opened = await openStore({ ...storeOptions(config), onNotice: onStoreNotice });
  const checked = knownKeys ? wholeListings(opened, knownKeys) : opened;
  const store = wrapStore(onStoreCall ? measureStore(checked, onStoreCall) : checked);
  const { days, maxBytes } = config.ledger.index;
  const reach = since === undefined ? 0 : Date.now() - since.getTime();
  const view = createLedgerView({
    store,
    retention: config.speech.retention,
    // For a longer reach a command uses an index of its own: that of the receiver goes back `days` only.
    filesFor: reach < days * DAY + TOLERANCE ? indexFiles : (storeId) => ({ path: indexFiles(storeId).path }),
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
 * Files of a service's index.
 *
 * @param cache cache directory of this machine; null without one
 */
export function indexOfService({ ledger }: Config, cache: string | null): FilesFor {
  const { path } = ledger.index;
  return (storeId) => ({ path: path ?? (cache && join(cache, `index-${storeId}.sqlite`)) });
}

/**
 * Files of a command's index: it reads that of a service that runs on this machine, else one that commands share. Commands never write the
 * file of a service, which would find it in use at its start. A command receives no callbacks, so its queries need no worker.
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
