import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ObjectHeaders } from '../../object-store.js';
import type { S3Lock, S3Settings } from '../s3-options.js';

const SHA256 = /^[0-9a-f]{64}$/;
const UNSIGNED = 'UNSIGNED-PAYLOAD';

/** S3's prefix for the names of user metadata. */
export const METADATA = 'x-amz-meta-';

/** S3 refuses a request when the bucket belongs to another account than this header names. */
export const EXPECTED_OWNER = 'x-amz-expected-bucket-owner';

/** Values by name, in lower case. */
export type SentHeaders = Readonly<Record<string, string>>;

/** How a body is protected in transit. */
interface Integrity {
  readonly sha256: string;
  /** Null when no CRC-32 is sent. */
  readonly crc32: number | null;
}

/**
 * Uses a known sha256 instead of hashing again. It is also the better proof, because it was computed when the bytes were
 * received, and S3 rejects other bytes.
 */
export function integrityOf(settings: S3Settings, secure: boolean, body: Buffer, sha256?: string): Integrity {
  const known = sha256 !== undefined && SHA256.test(sha256) ? sha256 : null;
  // AWS requires a checksum header for every locked object.
  const crc = sendsCrc32(settings) ? crc32(body) : null;
  const isUnsigned = settings.checksum === 'crc32' && secure;
  return { sha256: known ?? (isUnsigned ? UNSIGNED : hash('sha256', body, 'hex')), crc32: crc };
}

/** Whether uploads carry a CRC-32, in parts or as a whole. */
export function sendsCrc32({ checksum, lock }: S3Settings): boolean {
  return checksum === 'crc32' || Boolean(lock);
}

export function integrityHeaders({ sha256, crc32 }: Integrity): Record<string, string> {
  return {
    'x-amz-content-sha256': sha256,
    ...(crc32 !== null && {
      // Without the name of the algorithm Ceph RGW 20 ignores the checksum, even a wrong one.
      'x-amz-sdk-checksum-algorithm': 'CRC32',
      'x-amz-checksum-crc32': crc32Text(crc32),
    }),
  };
}

/** As S3 writes it: base64 of the big-endian number. */
export function crc32Text(checksum: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(checksum);
  return bytes.toString('base64');
}

/** The headers of a PutObject that describe the object. */
export function objectHeaders(
  settings: S3Settings,
  key: string,
  headers: ObjectHeaders,
): Record<string, string> {
  const described: Record<string, string> = { 'content-type': headers.contentType };
  for (const name in headers.metadata) described[METADATA + name] = headers.metadata[name] ?? '';
  const storageClass = storageClassOf(settings, headers);
  if (storageClass !== null) described['x-amz-storage-class'] = storageClass;
  const tagging = taggingOf(settings, headers);
  if (tagging !== null) described['x-amz-tagging'] = tagging;
  const lock = lockOf(settings, key, headers);
  if (lock !== null) {
    described['x-amz-object-lock-mode'] = lock.mode;
    described['x-amz-object-lock-retain-until-date'] = lock.until.toISOString();
  }
  const { sse } = settings;
  if (sse) described['x-amz-server-side-encryption'] = sse.mode;
  if (sse?.mode === 'aws:kms' && sse.keyId)
    described['x-amz-server-side-encryption-aws-kms-key-id'] = sse.keyId;
  return described;
}

/**
 * The storage class is only for job content: classes for infrequent access have a minimum billed size and age, which would be expensive
 * for the canary and ledger segments.
 */
export function storageClassOf({ storageClass }: S3Settings, { content }: ObjectHeaders): string | null {
  return (content && storageClass) ?? null;
}

/** Object tags in S3's format, which is that of a URL query. */
export function taggingOf({ tags }: S3Settings, { content }: ObjectHeaders): string | null {
  if (!tags || content === undefined) return null;
  return `kind=${encodeURIComponent(content.kind)}&source=${encodeURIComponent(content.source)}`;
}

/** The retention of an object that is written now; null for objects without a lock. */
export function lockOf(
  { lock }: S3Settings,
  key: string,
  { metadata }: ObjectHeaders,
): { readonly mode: S3Lock['mode']; readonly until: Date } | null {
  const isLocked = metadata.kind !== undefined || lock?.folders.some((folder) => key.startsWith(folder));
  return lock && isLocked ? { mode: lock.mode, until: new Date(Date.now() + lock.days * 86_400_000) } : null;
}
