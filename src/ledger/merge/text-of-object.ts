import { createHash, hash } from 'node:crypto';
import { crc32, createInflateRaw } from 'node:zlib';
import type { MergedMember, MergeRecord } from '../log/merge-record.js';

/** What a record says of an object. */
export type TextOfObject = Pick<MergeRecord, 'size' | 'sha256' | 'members'>;

/** RFC 1952: bytes before the compressed data of a member without optional fields, and behind it (CRC-32, size of the text). */
const HEADER = Buffer.of(0x1f, 0x8b, 8, 0);
const HEADER_BYTES = 10;
const TRAILER_BYTES = 8;
/** Text of a member, as readers take it. */
const MAX_MEMBER_BYTES = 128 * 1024 * 1024;
const LINE_FEED = 0x0a;

/** Reads the members of a merged object from its bytes; null for anything but whole gzip members of whole lines. */
export async function textOfObject(object: Buffer): Promise<TextOfObject | null> {
  const whole = createHash('sha256');
  const members: MergedMember[] = [];
  for (let at = 0; at < object.length; at += members.at(-1)?.bytes ?? 0) {
    const member = await firstMember(object.subarray(at));
    if (member === null) return null;
    whole.update(member.text);
    const { text, bytes } = member;
    members.push({ bytes, lines: linesOf(text), sha256: hash('sha256', text).slice(0, 16) });
  }
  return { size: object.length, sha256: whole.digest('hex'), members };
}

async function firstMember(data: Buffer): Promise<{ readonly text: Buffer; readonly bytes: number } | null> {
  if (!data.subarray(0, HEADER.length).equals(HEADER)) return null;
  const inflated = await inflateFirst(data.subarray(HEADER_BYTES)).catch(() => null);
  if (inflated === null) return null;
  const { text, read } = inflated;
  const end = HEADER_BYTES + read;
  if (text.at(-1) !== LINE_FEED || end + TRAILER_BYTES > data.length) return null;
  if (data.readUInt32LE(end) !== crc32(text)) return null;
  return { text, bytes: end + TRAILER_BYTES };
}

/** The text of the first compressed data, and how many bytes that has. */
async function inflateFirst(data: Buffer): Promise<{ readonly text: Buffer; readonly read: number }> {
  const inflate = createInflateRaw();
  inflate.end(data);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of inflate as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_MEMBER_BYTES) throw new Error('the text is too large for a member');
  }
  return { text: Buffer.concat(chunks), read: inflate.bytesWritten };
}

function linesOf(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(LINE_FEED); at >= 0; at = text.indexOf(LINE_FEED, at + 1)) lines += 1;
  return lines;
}
