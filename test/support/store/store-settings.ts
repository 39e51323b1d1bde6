import type { StoreOptions } from '../../../src/store/open-store.js';

/**
 * The `store` section of a configuration for a store under test, whose requests time out and are retried only when they hang, however busy
 * the machine is.
 */
export function storeSettings(options: StoreOptions, endpoint?: string): Record<string, unknown> {
  if (options.s3 === undefined) return { url: options.url, partSize: options.partSize };
  const { region, forcePathStyle, accessKeyId, secretAccessKey } = options.s3;
  return {
    url: options.url,
    partSize: options.partSize,
    canaryInterval: '1s',
    s3: {
      endpoint: endpoint ?? options.s3.endpoint,
      region,
      forcePathStyle,
      accessKeyId,
      secretAccessKey,
      requestTimeout: '30s',
      retries: 2,
    },
  };
}
