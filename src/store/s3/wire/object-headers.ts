import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ObjectHeaders } from '../../object-store.js';
import type { S3Lock, S3Settings } from '../s3-options.js';

const SHA256 = /^[0-9a-f]{64}$/;
const UNSIGNED = 'UNSIGNED-PAYLOAD';

/** S3's prefix for the names of user metadata. */
export const METADATA = 'x-amz-meta-';

/** Header lines as undici takes them: names, in lower case, and values in turn. */
export type HeaderLines = readonly string[];

/** How a body is protected in transit. */
export interface Integrity {
  readonly sha256: string;
  /** Base64 of the big-endian CRC-32; null when it is not sent. */
  readonly crc32: string | null;
}

/**
 * Uses a sha256 that the caller already has instead of hashing again. It is also the better proof: it was computed when
 * the bytes were received, and S3 rejects others.
 */
export function integrityOf(settings: S3Settings, secure: boolean, body: Buffer, sha256?: string): Integrity {
  const known = sha256 !== undefined && SHA256.test(sha256) ? sha256 : null;
  // AWS demands a checksum of its own with every object that is locked.
  const crc32 = sendsCrc32(settings) ? crc32Base64(body) : null;
  if (settings.checksum !== 'crc32') return { sha256: known ?? hash('sha256', body, 'hex'), crc32 };
  return {
    sha256: known ?? (secure ? UNSIGNED : hash('sha256', body, 'hex')),
    crc32,
  };
}

/** Whether uploads carry a CRC-32, in parts or as a whole. */
export function sendsCrc32({ checksum, lock }: S3Settings): boolean {
  return checksum === 'crc32' || Boolean(lock);
}

export function integrityLines({ sha256, crc32 }: Integrity): string[] {
  const lines = ['x-amz-content-sha256', sha256];
  if (crc32 !== null) lines.push('x-amz-checksum-crc32', crc32);
  return lines;
}

function crc32Base64(body: Buffer): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return bytes.toString('base64');
}

/** Appends the headers of a PutObject. */
export function addObjectLines(
  lines: string[],
  settings: S3Settings,
  key: string,
  headers: ObjectHeaders,
): void {
  lines.push('content-type', headers.contentType);
  for (const name of Object.keys(headers.metadata)) lines.push(METADATA + name, headers.metadata[name] ?? '');
  const storageClass = storageClassOf(settings, headers);
  if (storageClass !== null) lines.push('x-amz-storage-class', storageClass);
  const lock = lockOf(settings, key, headers);
  if (lock !== null) {
    lines.push('x-amz-object-lock-mode', lock.mode);
    lines.push('x-amz-object-lock-retain-until-date', lock.until.toISOString());
  }
  const { sse } = settings;
  if (sse) lines.push('x-amz-server-side-encryption', sse.mode);
  if (sse?.mode === 'aws:kms' && sse.keyId)
    lines.push('x-amz-server-side-encryption-aws-kms-key-id', sse.keyId);
}

/**
 * The configured class is for artefacts alone, which have a `kind`: classes for infrequent access have a minimum size and
 * age, at which they also bill the canary and ledger segments.
 */
export function storageClassOf({ storageClass }: S3Settings, { metadata }: ObjectHeaders): string | null {
  return storageClass && metadata.kind !== undefined ? storageClass : null;
}

/** The retention of an object that is written now; null for objects that are not locked. */
export function lockOf(
  { lock }: S3Settings,
  key: string,
  { metadata }: ObjectHeaders,
): { readonly mode: S3Lock['mode']; readonly until: Date } | null {
  const isLocked = metadata.kind !== undefined || lock?.folders.some((folder) => key.startsWith(folder));
  return lock && isLocked ? { mode: lock.mode, until: new Date(Date.now() + lock.days * 86_400_000) } : null;
}
