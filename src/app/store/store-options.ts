import type { Config } from '../../config/config.js';
import { caBundle, proxies } from '../../config/load/environment.js';
import { LEDGER_FOLDER, MERGED_FOLDER } from '../../ledger/ledger-keys.js';
import type { StoreOptions } from '../../store/open-store.js';
import type { S3Lock } from '../../store/s3/s3-options.js';

/** Options of the store, from the configuration. */
export function storeOptions({ store }: Config): StoreOptions {
  const { s3 } = store;
  return {
    url: store.url,
    partSize: store.partSize,
    id: store.id,
    s3: {
      endpoint: s3.endpoint,
      region: s3.region,
      forcePathStyle: s3.forcePathStyle,
      accessKeyId: s3.accessKeyId,
      secretAccessKey: s3.secretAccessKey,
      checksum: s3.checksum,
      sse: encryption(s3),
      storageClass: s3.storageClass,
      tags: s3.tags,
      expectedBucketOwner: s3.expectedBucketOwner,
      lock: lock(s3),
      conditionalWrites: s3.conditionalWrites,
      caBundle: caBundle(),
      proxies: proxies(),
      requestTimeoutMs: s3.requestTimeout,
      retries: s3.retries,
      partTimeoutMs: 4 * s3.requestTimeout,
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

function lock({ lock: { mode, days } }: Config['store']['s3']): S3Lock | null {
  if (mode === 'none' || days === null) return null;
  const name = mode === 'governance' ? 'GOVERNANCE' : 'COMPLIANCE';
  return { mode: name, days, folders: [LEDGER_FOLDER, MERGED_FOLDER] };
}
