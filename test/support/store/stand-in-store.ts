import type { ObjectStore } from '../../../src/store/object-store.js';
import { openStore } from '../../../src/store/open-store.js';
import type { S3Settings } from '../../../src/store/s3/s3-options.js';
import type { StoreUnderTest } from '../../contract/object-store.js';
import { type S3StandIn, startS3StandIn } from './s3-stand-in.js';

/** Key prefix of the store within the stand-in's bucket. */
export const PREFIX = 'some/prefix/';

/** Settings with which a stand-in is reached; it takes any credentials. */
export function standInS3({ endpoint }: Pick<S3StandIn, 'endpoint'>) {
  return {
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    accessKeyId: 'AKIATEST',
    secretAccessKey: 'very-secret-key',
  };
}

/** A new S3 stand-in, and the options of a store that uses it. */
export async function openStandInPlace(
  settings: S3Settings = {},
): Promise<StoreUnderTest & { standIn: S3StandIn }> {
  const standIn = await startS3StandIn();
  const s3 = { ...standInS3(standIn), ...settings };
  const options = { url: `s3://bucket/${PREFIX}`, partSize: 5 * 1024 * 1024, s3 };
  return { standIn, options, dispose: () => standIn.close() };
}

export interface StandInStore {
  readonly standIn: S3StandIn;
  readonly store: ObjectStore;
  /** Log records of the store. */
  readonly notices: readonly string[];
  close(): Promise<void>;
}

/** An S3 store over a new stand-in; retry delays are minimal, so that faults cost no time. */
export async function openStandInStore(settings: S3Settings = {}): Promise<StandInStore> {
  const place = await openStandInPlace({ retryDelayMs: 1, ...settings });
  const notices: string[] = [];
  const store = await openStore({ ...place.options, onNotice: (message) => notices.push(message) });
  return {
    standIn: place.standIn,
    store,
    notices,
    async close() {
      await store.close();
      await place.dispose();
    },
  };
}
