import zlib from 'node:zlib';
import { EncodingRefusedError, UndecodableError } from '../../archive/content/decode-error.js';
import type { ByteSource } from './byte-source.js';
import { type Decompressor, InflatedSource } from './inflated-source.js';

const OUTPUT_CHUNK = 64 * 1024;

type Open = (beginning: Buffer) => Decompressor;

/** Node has zstd since 22.15; without it such a body is undecodable. */
const createZstd = (zlib as { createZstdDecompress?: (options: object) => Decompressor })
  .createZstdDecompress;

const gunzip: Open = () => zlib.createGunzip({ chunkSize: OUTPUT_CHUNK });
const DECODERS: Record<string, Open | undefined> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  br: () => zlib.createBrotliDecompress({ chunkSize: OUTPUT_CHUNK }),
  deflate: (beginning) =>
    hasZlibHeader(beginning)
      ? zlib.createInflate({ chunkSize: OUTPUT_CHUNK })
      : zlib.createInflateRaw({ chunkSize: OUTPUT_CHUNK }),
  ...(createZstd ? { zstd: () => createZstd({ chunkSize: OUTPUT_CHUNK }) } : {}),
};

/** The encodings of a Content-Encoding value in the order they were applied, `identity` left out. */
export function contentEncodings(header: string): readonly string[] {
  const tokens = header.split(',').map((token) => token.trim().toLowerCase());
  return tokens.filter((token) => token !== '' && token !== 'identity');
}

/**
 * Decodes a body with one content encoding; `maxBytes` limits what it decodes to. Throws UndecodableError for an unknown encoding,
 * and EncodingRefusedError for several, because each multiplies how far a small body can expand; real senders use one.
 */
export function decodedSource(
  source: ByteSource,
  [encoding = 'identity', ...others]: readonly string[],
  maxBytes: number,
): InflatedSource {
  if (others.length > 0)
    throw new EncodingRefusedError('The body has several content encodings; send it with at most one.');
  const open = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (open === undefined)
    throw new UndecodableError('encoding-unsupported', 'The content encoding is not known.');
  return new InflatedSource(source, open, maxBytes);
}

/** `deflate` means the zlib format, but raw deflate data is also sent under that name (RFC 9110, 8.4.1.2). */
function hasZlibHeader(beginning: Buffer): boolean {
  const [first = 0, second = 0] = beginning;
  return (first & 0x0f) === 8 && ((first << 8) | second) % 31 === 0;
}
