import { crc32 } from 'node:zlib';
import { ROLLUPS_FOLDER } from '../ledger-keys.js';
import type { Rollup } from './rollup.js';

/** `{"crc":"0123abcd",` */
const HEAD = /^\{"crc":"([0-9a-f]{8})",/;
const HEAD_LENGTH = 18;

/** A rollup as it is stored: its first field is the CRC-32 of the document without that field. */
export function encodeRollup(rollup: Rollup): Buffer {
  const text = JSON.stringify(rollup);
  return Buffer.from(`{"crc":"${crcOf(text)}",${text.slice(1)}`);
}

/** Null for a document that is damaged, of another version, or another rollup than its key says. */
export function decodeRollup(key: string, bytes: Buffer): Rollup | null {
  const document = bytes.toString();
  const text = `{${document.slice(HEAD_LENGTH)}`;
  if (HEAD.exec(document.slice(0, HEAD_LENGTH))?.[1] !== crcOf(text)) return null;
  // The CRC vouches for the rest.
  const rollup = JSON.parse(text) as Rollup;
  const name = `${ROLLUPS_FOLDER}${rollup.hour}${String(rollup.n).padStart(4, '0')}.json`;
  return rollup.v === 1 && key === name ? rollup : null;
}

function crcOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
