import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { ObjectStore } from '../../store/object-store.js';
import { readBytes } from '../../store/read-to-end.js';
import { fetchSegment, type UnparsedSegment } from '../read-segment.js';
import { UnreadableError } from '../retrying-reads.js';
import { folderOfWriter, type SegmentPlace, segmentKey } from '../segment-key.js';
import {
  type MergedHour,
  MergedHourError,
  type MergedMember,
  type MergedSegment,
  type MergeRecord,
  readMergedHour,
} from './merge-record.js';

const decompress = promisify(gunzip);
/** Upper bound of a member's text: a member ends with the line that exceeds 1 MiB, and a segment has at most 64 MiB. */
const MAX_MEMBER_BYTES = 128 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** A segment of a merged text, with its content. */
export interface MergedContent {
  readonly segment: MergedSegment;
  /** Bytes of the segment. */
  readonly content: Buffer;
  /** The same with a line feed at its end, as the merged text has it. */
  readonly text: Buffer;
}

/**
 * Reads segments of a merged object, in the order of its text. Only the members that contain them are read, and each is checked against its
 * record before any line of it is returned. Throws `MergedHourError` when the object is missing, damaged or foreign, and `StoreError`.
 *
 * @param from index of the first segment in the record; `to` is exclusive
 */
export async function* readMergedSegments(
  store: ObjectStore,
  record: MergeRecord,
  from = 0,
  to = record.segments.length,
): AsyncGenerator<MergedContent> {
  const span = spanOf(record, from, to);
  const readLines = createLineReader(record, textsOf(store, record, span));
  await readLines(span.skip);
  for (const segment of record.segments.slice(from, to)) {
    const text = await readLines(segment.lines);
    yield { segment, content: text.subarray(0, segment.bytes), text };
  }
}

/** The members that contain some segments. */
interface Span {
  readonly members: readonly MergedMember[];
  /** Offset of the first member in the object. */
  readonly start: number;
  readonly bytes: number;
  /** Lines before the first segment in the first member. */
  readonly skip: number;
}

function spanOf({ segments, members }: MergeRecord, from: number, to: number): Span {
  const count = (some: readonly { readonly lines: number }[]) =>
    some.reduce((lines, each) => lines + each.lines, 0);
  const first = count(segments.slice(0, from));
  const end = first + count(segments.slice(from, to));
  let lines = 0;
  let start = 0;
  let bytes = 0;
  let skip = 0;
  const wanted: MergedMember[] = [];
  for (const member of members) {
    const isBefore = lines + member.lines <= first;
    if (!isBefore && lines < end) {
      if (wanted.length === 0) skip = first - lines;
      wanted.push(member);
      bytes += member.bytes;
    } else if (isBefore) start += member.bytes;
    lines += member.lines;
  }
  return { members: wanted, start, bytes, skip };
}

async function readMembers(store: ObjectStore, record: MergeRecord, { start, bytes }: Span): Promise<Buffer> {
  if (bytes === 0) return Buffer.alloc(0);
  const { object, size } = record;
  const range = { start, end: start + bytes - 1 };
  const found = await readBytes(store, object, size, range).catch((error: unknown) => {
    if (!(error instanceof UnreadableError)) throw error;
    throw new MergedHourError(object, error.message, record);
  });
  if (found === null) throw new MergedHourError(object, 'it is missing', record);
  if (found.info.size === size && found.bytes !== null) return found.bytes;
  throw new MergedHourError(object, `it has ${found.info.size} bytes, and its record says ${size}`, record);
}

/** The texts of some members, each checked. */
async function* textsOf(store: ObjectStore, record: MergeRecord, span: Span): AsyncGenerator<Buffer> {
  const data = await readMembers(store, record, span);
  let at = 0;
  for (const { bytes, sha256 } of span.members) {
    const member = data.subarray(at, at + bytes);
    const text = await decompress(member, { maxOutputLength: MAX_MEMBER_BYTES }).catch(() => null);
    if (text === null || sha256.length !== 16 || !hash('sha256', text).startsWith(sha256))
      throw new MergedHourError(record.object, 'its bytes are not those that its record names', record);
    yield text;
    at += bytes;
  }
}

/** Reads lines of a merged text, in order, also across members. */
function createLineReader(record: MergeRecord, texts: AsyncGenerator<Buffer>) {
  let text: Buffer = Buffer.alloc(0);
  return async (lines: number): Promise<Buffer> => {
    const parts: Buffer[] = [];
    for (let left = lines; left > 0; ) {
      const end = text.indexOf(LINE_FEED) + 1;
      if (end > 0) {
        parts.push(text.subarray(0, end));
        text = text.subarray(end);
        left -= 1;
        continue;
      }
      parts.push(text);
      const next = await texts.next();
      if (next.done)
        throw new MergedHourError(record.object, 'it has fewer lines than its record says', record);
      text = next.value;
    }
    // Copied: a part keeps the memory of its whole member.
    return Buffer.from(Uint8Array.from(Buffer.concat(parts)).buffer);
  };
}

/** Hours whose records are cached: those of a busy hour take some megabytes. */
const KEPT_HOURS = 4;

/**
 * Reads segments from merged hours; null for one that no record covers. Caches the records of the last hours. Rejects with `StoreError`,
 * and with `MergedHourError` when a record or object that may have the segment is damaged or missing.
 */
export function createMergedFetcher(store: ObjectStore) {
  const hours = new Map<string, Promise<MergedHour>>();
  return async (place: SegmentPlace): Promise<UnparsedSegment | null> => {
    const folder = folderOfWriter(place.writer);
    const name = folder + place.hour;
    const known = hours.get(name) ?? readMergedHour(store, place.hour, folder);
    hours.set(name, known);
    for (const oldest of hours.keys()) if (hours.size > KEPT_HOURS) hours.delete(oldest);
    return fetchMerged(store, await known, place);
  };
}

/** Reads a segment from its own object, else from its merged hour; null when neither has it. Rejects as the fetcher does. */
export async function fetchFromLog(
  store: ObjectStore,
  segment: SegmentPlace,
): Promise<UnparsedSegment | null> {
  return (await fetchSegment(store, segmentKey(segment))) ?? createMergedFetcher(store)(segment);
}

async function fetchMerged(
  store: ObjectStore,
  { records, faults }: MergedHour,
  { writer, number }: SegmentPlace,
): Promise<UnparsedSegment | null> {
  let damage = faults[0] ?? null;
  for (const record of records) {
    const index = record.segments.findIndex((each) => each.number === number && each.writer === writer);
    if (index < 0) continue;
    try {
      for await (const { segment, content } of readMergedSegments(store, record, index, index + 1))
        return { content, writtenAt: segment.writtenAt };
    } catch (error) {
      if (!(error instanceof MergedHourError)) throw error;
      damage = error;
    }
  }
  if (damage !== null) throw damage;
  return null;
}
