import type { Config } from '../config/config.js';
import type { StoreOptions } from '../store/open-store.js';

/** Options of the store, from the configuration. */
export function storeOptions({ store }: Config): StoreOptions {
  const { s3 } = store;
  return {
    url: store.url,
    partSize: store.partSize,
    fsync: store.fsync,
    s3: {
      endpoint: s3.endpoint,
      region: s3.region,
      forcePathStyle: s3.forcePathStyle,
      accessKeyId: s3.accessKeyId,
      secretAccessKey: s3.secretAccessKey,
      sessionToken: s3.sessionToken,
      checksum: s3.checksum,
      sse: encryption(s3),
      storageClass: s3.storageClass,
      conditionalWrites: s3.conditionalWrites,
      connectTimeoutMs: s3.connectTimeout,
      requestTimeoutMs: s3.requestTimeout,
      partTimeoutMs: s3.partTimeout,
      retries: s3.retries,
      maxSockets: s3.maxSockets,
    },
  };
}

function encryption({ sse, kmsKeyId }: Config['store']['s3']): NonNullable<StoreOptions['s3']>['sse'] {
  switch (sse) {
    case 'none':
      return null;
    case 's3':
      return { mode: 'AES256' };
    case 'kms':
      return { mode: 'aws:kms', keyId: kmsKeyId };
  }
}

/** Identifies the store in files that are kept outside of it. Buckets of two servers may have the same name. */
export function storeIdentity({ store }: Config, location: string): string {
  return location.startsWith('s3:') && store.s3.endpoint !== null
    ? `${location} at ${store.s3.endpoint}`
    : location;
}
