import type { ObjectStore } from '../../src/store/object-store.js';
import { openStore } from '../../src/store/open-store.js';
import type { S3Settings } from '../../src/store/s3-options.js';
import { type S3StandIn, startS3StandIn } from './s3-stand-in.js';

export const PART = 5 * 1024 * 1024;
/** Key prefix of the store within the stand-in's bucket. */
export const PREFIX = 'some/prefix/';

export interface StandInStore {
  readonly standIn: S3StandIn;
  readonly store: ObjectStore;
  close(): Promise<void>;
}

/** An S3 store before a stand-in of its own; retries hardly wait, so that faults cost no time. */
export async function openStandInStore(settings: S3Settings = {}): Promise<StandInStore> {
  const standIn = await startS3StandIn();
  const store = await openStore({
    url: `s3://bucket/${PREFIX}`,
    partSize: PART,
    s3: {
      endpoint: standIn.endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      accessKeyId: 'AKIATEST',
      secretAccessKey: 'very-secret-key',
      retryDelayMs: 1,
      ...settings,
    },
  });
  return {
    standIn,
    store,
    async close() {
      await store.close();
      await standIn.close();
    },
  };
}
