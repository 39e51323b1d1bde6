import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';

const BLOCK = 1024 * 1024;

/** A body of distinct MiB blocks, generated while it is sent; `sha256` is valid after the last chunk was read. */
export function largeBody(mebibytes: number) {
  const hash = createHash('sha256');
  const block = randomBytes(BLOCK);
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let n = 0; n < mebibytes; n += 1) {
      const chunk = Buffer.from(block);
      chunk.writeUInt32BE(n);
      hash.update(chunk);
      yield chunk;
    }
  }
  return { bytes: mebibytes * BLOCK, chunks, sha256: () => hash.digest('hex') };
}

export async function sha256OfFile(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: BLOCK })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
