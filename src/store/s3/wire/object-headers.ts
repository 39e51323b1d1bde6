import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ObjectHeaders } from '../../object-store.js';
import type { S3Settings } from '../s3-options.js';

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
  if (settings.checksum !== 'crc32') return { sha256: known ?? hash('sha256', body, 'hex'), crc32: null };
  return {
    sha256: known ?? (secure ? UNSIGNED : hash('sha256', body, 'hex')),
    crc32: crc32Base64(body),
  };
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
export function addObjectLines(lines: string[], settings: S3Settings, headers: ObjectHeaders): void {
  lines.push('content-type', headers.contentType);
  for (const name of Object.keys(headers.metadata)) lines.push(METADATA + name, headers.metadata[name] ?? '');
  const storageClass = storageClassOf(settings, headers);
  if (storageClass !== null) lines.push('x-amz-storage-class', storageClass);
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
