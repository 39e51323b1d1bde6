import { crc32 } from 'node:zlib';
import type { ChartRollup } from './rollup.js';

/** `{"crc":"0123abcd",` */
const HEAD = /^\{"crc":"([0-9a-f]{8})",/;
const HEAD_LENGTH = 18;

/** Null for a document that is damaged, of another version, or the rollup of another key. */
export function decodeRollup<Document extends ChartRollup>(key: string, bytes: Buffer): Document | null {
  const text = bytes.toString();
  const rest = `{${text.slice(HEAD_LENGTH)}`;
  if (HEAD.exec(text.slice(0, HEAD_LENGTH))?.[1] !== crcOf(rest)) return null;
  // The CRC vouches for the rest.
  const document = JSON.parse(rest) as Document;
  return document.v === 1 && document.key === key ? document : null;
}

function crcOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
