import type { Readable } from 'node:stream';

/** What a body has until its end, or until it proves longer than `most` bytes: more than `most` then, and the rest stays unread. */
export async function readBeginning(body: Readable, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > most) break;
  }
  return Buffer.concat(chunks);
}
