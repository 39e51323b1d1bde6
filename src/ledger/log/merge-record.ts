import { isJsonObject } from '../../text/parse-json.js';
import { startOfHour } from '../hours.js';
import { mergedObjectKey } from '../ledger-keys.js';
import type { SegmentPlace } from '../segment-key.js';

/** A segment of a merged text. */
export interface MergedSegment extends Pick<SegmentPlace, 'writer' | 'number'> {
  readonly lines: number;
  /** Of the segment: one less than those of its lines where the last one has no line feed. */
  readonly bytes: number;
  /** The store's time of the segment, in milliseconds since the epoch. */
  readonly writtenAt: number;
}

/** A gzip member of a merged object. It can be read alone. */
export interface MergedMember {
  /** Compressed. */
  readonly bytes: number;
  readonly lines: number;
  /** Of its text: the first 16 hex digits. */
  readonly sha256: string;
}

/**
 * What an object of a merged hour has. The object is the text of segments, one after the other; a line feed follows a last line that had
 * none. The record makes it count.
 */
export interface MergeRecord {
  readonly hour: string;
  /** From 1; segments that appear later are in a further record. */
  readonly n: number;
  /** Folder of the last hour before this one that has lines; null where the merge did not know it. */
  readonly previous: string | null;
  /** Key of the object. */
  readonly object: string;
  /** Bytes of the object. */
  readonly size: number;
  /** Of the text, hex. */
  readonly sha256: string;
  /** In the order of the text. */
  readonly segments: readonly MergedSegment[];
  /** In the order of the object. */
  readonly members: readonly MergedMember[];
}

export function encodeRecord(record: MergeRecord): Buffer {
  const segments = record.segments.map((segment) => ({
    ...segment,
    writtenAt: new Date(segment.writtenAt).toISOString(),
  }));
  return Buffer.from(`${JSON.stringify({ v: 1, ...record, segments })}\n`);
}

/** Null for anything but a record of this hour and number. */
export function parseRecord(hour: string, n: number, value: unknown): MergeRecord | null {
  if (!isJsonObject(value) || value.v !== 1 || value.hour !== hour || value.n !== n) return null;
  const { previous, object, size, sha256 } = value;
  if (typeof sha256 !== 'string' || !SHA256.test(sha256) || object !== mergedObjectKey(hour, n, sha256))
    return null;
  if (previous !== null && (typeof previous !== 'string' || Number.isNaN(startOfHour(previous)))) return null;
  const segments = listOf(value.segments, segmentOf);
  const members = listOf(value.members, memberOf);
  if (!isCount(size) || segments === null || members === null || segments.length === 0) return null;
  const isWhole = sum(members, 'bytes') === size && sum(members, 'lines') === sum(segments, 'lines');
  return isWhole ? { hour, n, previous, object, size, sha256, segments, members } : null;
}

const SHA256 = /^[0-9a-f]{64}$/;
const WRITER = /^[A-Za-z0-9_-]{1,128}$/;

function listOf<Item>(value: unknown, itemOf: (each: unknown) => Item | null): Item[] | null {
  if (!Array.isArray(value)) return null;
  const items = value.map(itemOf);
  return items.every((item) => item !== null) ? (items as Item[]) : null;
}

function segmentOf(value: unknown): MergedSegment | null {
  if (!isJsonObject(value)) return null;
  const { writer, number, lines, bytes } = value;
  const writtenAt = Date.parse(String(value.writtenAt));
  if (typeof writer !== 'string' || !WRITER.test(writer) || Number.isNaN(writtenAt)) return null;
  if (!isCount(number) || number === 0 || !isCount(lines) || !isCount(bytes)) return null;
  return { writer, number, lines, bytes, writtenAt };
}

function memberOf(value: unknown): MergedMember | null {
  if (!isJsonObject(value)) return null;
  const { bytes, lines, sha256 } = value;
  return isCount(bytes) && isCount(lines) && typeof sha256 === 'string' ? { bytes, lines, sha256 } : null;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function sum<Field extends string>(items: readonly Readonly<Record<Field, number>>[], field: Field): number {
  return items.reduce((total, item) => total + item[field], 0);
}
