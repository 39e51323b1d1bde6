import { resolve } from 'node:path';
import { storeOptions } from '../../app/store/store-options.js';
import { type Config, loadStoreConfigOf } from '../../config/config.js';
import { readStoreLocation } from '../../lib/text/store-location.js';
import type { ObjectStore } from '../../store/object-store.js';
import { MIN_S3_PART, openStore, type StoreOptions } from '../../store/open-store.js';
import { measureStore, type OnStoreCall } from '../../store/probe/measure-store.js';
import { UsageError } from '../shared/exit-codes.js';

export interface BothStores {
  readonly from: ObjectStore;
  readonly to: ObjectStore;
  close(): Promise<void>;
}

/** The options of both stores. */
export interface BothOptions {
  readonly from: StoreOptions;
  readonly to: StoreOptions;
}

/**
 * The options of both stores. The settings below `store` apply to both, except the id, which pins only the configured store. Throws
 * `UsageError` for an invalid address, and for two stores that are the same or one inside the other.
 *
 * @param fromConfig folder of a configuration with the settings of the source
 */
export function optionsOfBoth(
  config: Config,
  addresses: { readonly from: string; readonly to: string },
  fromConfig: string | null,
): BothOptions {
  const ofSource = fromConfig === null ? config : loadStoreConfigOf(fromConfig);
  const from = optionsOf('<from>', ofSource, addresses.from);
  const to = { ...optionsOf('<to>', config, addresses.to), id: null };
  const [source, copy] = [from, to].map(placeOf);
  if (source !== undefined && copy !== undefined && (source.startsWith(copy) || copy.startsWith(source)))
    throw new UsageError('<from> and <to> must be two places, and neither may be inside of the other');
  return { from, to };
}

function optionsOf(name: string, config: Config, url: string): StoreOptions {
  const location = readStoreLocation(url);
  if ('fault' in location) throw new UsageError(`${name} should be ${location.fault}`);
  const options = storeOptions(config);
  // The part size of a folder can be smaller.
  const partSize =
    location.kind === 's3' ? Math.max(config.store.partSize, MIN_S3_PART) : config.store.partSize;
  return { ...options, url, partSize, id: url === config.store.url ? config.store.id : null };
}

function placeOf({ url, s3 }: StoreOptions): string {
  const location = readStoreLocation(url);
  if ('directory' in location) return `${resolve(location.directory)}/`;
  return 'bucket' in location ? `${s3?.endpoint ?? ''} ${location.bucket}/${location.prefix}` : '';
}

export async function openBothStores(
  options: BothOptions,
  onStoreCall: readonly OnStoreCall[],
): Promise<BothStores> {
  const [from, to] = [await openStore(options.from), await openStore(options.to)].map((store) =>
    measureStore(store, onStoreCall),
  ) as [ObjectStore, ObjectStore];
  return {
    from,
    to,
    async close() {
      await Promise.all([from.close(), to.close()]);
    },
  };
}
