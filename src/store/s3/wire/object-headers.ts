import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ObjectHeaders } from '../../object-store.js';
import type { S3Settings } from '../s3-options.js';

const SHA256 = /^[0-9a-f]{64}$/;
const UNSIGNED = 'UNSIGNED-PAYLOAD';

/** What S3 puts before the names of user metadata. */
export const METADATA = 'x-amz-meta-';

/** Header lines as undici takes them: names, in lower case, and values in turn. */
export type HeaderLines = readonly string[];

/** How the bytes are protected on their way. */
export interface Integrity {
  readonly sha256: string;
  /** Base64 of the big-endian CRC-32; null when it is not sent. */
  readonly crc32: string | null;
}

/**
 * A sha256 the caller already has is used instead of hashing again, and is the better proof: it was taken when
 * the bytes were received, and S3 refuses others.
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

/** Appends the headers of a PUT that makes an object of ours. */
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
 * Only artefacts, which have a `kind`, take the configured class: classes for rare access bill small and short-lived objects,
 * such as the canary and ledger segments, as large and old ones.
 */
export function storageClassOf({ storageClass }: S3Settings, { metadata }: ObjectHeaders): string | null {
  return storageClass && metadata.kind !== undefined ? storageClass : null;
}
