import { open } from 'node:fs/promises';

/** Chunks before the samples (LIST, bext, ...) are small; a data chunk further in is not looked for. */
const HEAD_BYTES = 64 * 1024;
const UNKNOWN_SIZE = 0xffff_ffff;

/** Seconds of audio in a WAV file, RF64 included; null for any other file. */
export async function wavFileSeconds(path: string): Promise<number | null> {
  const file = await open(path);
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0);
    return wavSecondsOf(head.subarray(0, bytesRead), (await file.stat()).size);
  } finally {
    await file.close();
  }
}

/** The same from a file's first bytes and its size. */
function wavSecondsOf(head: Buffer, fileSize: number): number | null {
  const kind = head.toString('latin1', 0, 4);
  if ((kind !== 'RIFF' && kind !== 'RF64') || head.toString('latin1', 8, 12) !== 'WAVE') return null;
  let bytesPerSecond = 0;
  for (let at = 12; at + 8 <= head.length; ) {
    const name = head.toString('latin1', at, at + 4);
    const size = head.readUInt32LE(at + 4);
    const body = at + 8;
    if (name === 'fmt ' && body + 12 <= head.length) bytesPerSecond = head.readUInt32LE(body + 8);
    if (name === 'data') {
      if (bytesPerSecond === 0) return null;
      // A stream states no size or the largest one: then the file's end counts.
      const stated = size === 0 || size === UNKNOWN_SIZE ? Number.POSITIVE_INFINITY : size;
      return Math.max(0, Math.min(stated, fileSize - body)) / bytesPerSecond;
    }
    at = body + size + (size % 2);
  }
  return null;
}
