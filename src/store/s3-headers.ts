import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ObjectHeaders } from './object-store.js';
import type { S3Settings } from './s3-options.js';

const SHA256 = /^[0-9a-f]{64}$/;
const UNSIGNED = 'UNSIGNED-PAYLOAD';

/**
 * How the bytes are protected on their way. A sha256 the caller already has is used instead of hashing again,
 * and is the better proof: it was taken when the bytes were received, and S3 refuses others.
 */
export function integrityHeaders(
  settings: S3Settings,
  secure: boolean,
  body: Buffer,
  sha256?: string,
): Record<string, string> {
  const known = sha256 !== undefined && SHA256.test(sha256) ? sha256 : null;
  if (settings.checksum !== 'crc32') return { 'x-amz-content-sha256': known ?? hash('sha256', body, 'hex') };
  return {
    'x-amz-content-sha256': known ?? (secure ? UNSIGNED : hash('sha256', body, 'hex')),
    'x-amz-checksum-crc32': crc32Base64(body),
  };
}

function crc32Base64(body: Buffer): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString('base64');
}

/** Headers of a PUT that makes an object of ours. */
export function objectHeaders(settings: S3Settings, headers: ObjectHeaders): Record<string, string> {
  const result: Record<string, string> = { 'content-type': headers.contentType };
  for (const [name, value] of Object.entries(headers.metadata)) result[`x-amz-meta-${name}`] = value;
  if (settings.storageClass) result['x-amz-storage-class'] = settings.storageClass;
  const { sse } = settings;
  if (sse) result['x-amz-server-side-encryption'] = sse.mode;
  if (sse?.mode === 'aws:kms' && sse.keyId) result['x-amz-server-side-encryption-aws-kms-key-id'] = sse.keyId;
  return result;
}
