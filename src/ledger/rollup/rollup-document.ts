import { crc32 } from 'node:zlib';
import { dailyRollupKey, rollupKey } from '../ledger-keys.js';
import type { DailyRollup, Rollup } from './rollup.js';

/** `{"crc":"0123abcd",` */
const HEAD = /^\{"crc":"([0-9a-f]{8})",/;
const HEAD_LENGTH = 18;

/** A rollup as it is stored: its first field is the CRC-32 of the document without that field. */
export function encodeRollup(rollup: Rollup | DailyRollup): Buffer {
  const text = JSON.stringify(rollup);
  return Buffer.from(`{"crc":"${crcOf(text)}",${text.slice(1)}`);
}

/** Null for a document that is damaged, of another version, or another rollup than its key says. */
export function decodeRollup(key: string, bytes: Buffer): Rollup | null {
  return decode<Rollup>(bytes, ({ hour, n }) => key === rollupKey(hour, n));
}

/** The same for the rollup of a day. */
export function decodeDailyRollup(key: string, bytes: Buffer): DailyRollup | null {
  return decode<DailyRollup>(bytes, ({ day }) => key === dailyRollupKey(day));
}

function decode<Document extends { readonly v: 1 }>(
  bytes: Buffer,
  isOwn: (document: Document) => boolean,
): Document | null {
  const text = bytes.toString();
  const rest = `{${text.slice(HEAD_LENGTH)}`;
  if (HEAD.exec(text.slice(0, HEAD_LENGTH))?.[1] !== crcOf(rest)) return null;
  // The CRC vouches for the rest.
  const document = JSON.parse(rest) as Document;
  return document.v === 1 && isOwn(document) ? document : null;
}

function crcOf(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
