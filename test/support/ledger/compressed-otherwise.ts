import { gunzipSync, gzipSync } from 'node:zlib';

/** A merged object with the same text, as another line of Node could write it: other bytes, in other members. */
export function compressedOtherwise(object: Buffer): Buffer {
  if (object.length === 0) return object;
  const lines = gunzipSync(object)
    .toString('latin1')
    .split(/(?<=\n)/);
  const members: Buffer[] = [];
  for (let at = 0; at < lines.length; at += 2) {
    const text = Buffer.from(lines.slice(at, at + 2).join(''), 'latin1');
    if (text.length > 0) members.push(gzipSync(text, { level: 9 }));
  }
  return Buffer.concat(members);
}
