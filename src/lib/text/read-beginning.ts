import type { Readable } from 'node:stream';

/** Reads a body to its end, or until more than `maxBytes` were read: then the result is longer than that, and the rest stays unread. */
export async function readBeginning(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) break;
  }
  return Buffer.concat(chunks);
}
