import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

/** Bytes that can be produced repeatedly, always the same, without being held in memory. */
export interface Content {
  readonly size: number;
  readonly contentType: string;
  chunks(): AsyncIterable<Buffer>;
}

export function bufferContent(bytes: Buffer, contentType: string): Content {
  return {
    size: bytes.length,
    contentType,
    async *chunks() {
      yield bytes;
    },
  };
}

/** An upload as it was received, spooled to a file. */
export function fileContent(path: string, size: number, contentType: string): Content {
  return { size, contentType, chunks: () => createReadStream(path) };
}

export function contentStream(content: Content): Readable {
  return Readable.from(content.chunks(), { objectMode: false });
}

export function contentBytes(content: Content): Promise<Buffer> {
  return buffer(contentStream(content));
}

/** Lower-case hex. */
export async function contentSha256(content: Content): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of content.chunks()) hash.update(chunk);
  return hash.digest('hex');
}
