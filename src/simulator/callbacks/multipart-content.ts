import type { Content } from '../content/content.js';

export interface FormPart {
  readonly name: string;
  readonly fileName: string;
  readonly content: Content;
}

/**
 * A form byte by byte as Go's mime/multipart writes it: 60 hex digits of boundary, a line break before the
 * closing delimiter even without parts, quotes and backslashes escaped.
 */
export function multipartContent(parts: readonly FormPart[], boundary: string): Content {
  const heads = parts.map((part, index) => partHead(part, boundary, index === 0));
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const size = parts.reduce(
    (sum, part, index) => sum + part.content.size + (heads[index]?.length ?? 0),
    tail.length,
  );
  return {
    size,
    contentType: `multipart/form-data; boundary=${boundary}`,
    async *chunks() {
      for (const [index, part] of parts.entries()) {
        yield heads[index] ?? Buffer.alloc(0);
        yield* part.content.chunks();
      }
      yield tail;
    },
  };
}

function partHead(part: FormPart, boundary: string, first: boolean): Buffer {
  const lines = [
    `${first ? '' : '\r\n'}--${boundary}`,
    `Content-Disposition: form-data; name="${escaped(part.name)}"; filename="${escaped(part.fileName)}"`,
    `Content-Type: ${part.content.contentType}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll(/[\r\n]/g, '');
}
