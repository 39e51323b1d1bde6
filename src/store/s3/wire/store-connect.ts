import { readFileSync } from 'node:fs';
import type { buildConnector } from 'undici';
import { createConnect } from '../../../lib/outbound/connect.js';
import { NO_PROXIES } from '../../../lib/outbound/proxy-settings.js';
import { StoreError } from '../../object-store.js';
import type { S3Settings } from '../s3-options.js';

/**
 * Opens the connections of all requests to S3.
 *
 * @param timeout in milliseconds
 * @throws StoreError when the file of certificates cannot be read
 */
export function storeConnect(
  { caBundle, proxies = NO_PROXIES }: Pick<S3Settings, 'caBundle' | 'proxies'>,
  timeout: number,
): buildConnector.connector {
  const ca = caBundle ? certificatesIn(caBundle) : undefined;
  return createConnect({ timeout, proxies, ca });
}

function certificatesIn(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const reason = (error as Error).message;
    throw new StoreError('open', `the CA bundle (AWS_CA_BUNDLE) cannot be read: ${reason}`, { cause: error });
  }
}
