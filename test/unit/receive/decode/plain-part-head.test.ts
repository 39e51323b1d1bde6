import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PartHead } from '../../../../src/archive/content/part-head.js';
import { BusboyParts } from '../../../../src/receive/decode/busboy-parts.js';
import { plainPartHead } from '../../../../src/receive/decode/decode-multipart.js';

function block(...lines: string[]): Buffer {
  return Buffer.from(lines.map((line) => `${line}\r\n`).join(''), 'latin1');
}

/** What busboy reads in a block; null when it finds it malformed. */
function busboyHead(bytes: Buffer): PartHead | null {
  const busboy = new BusboyParts();
  try {
    return busboy.parse(bytes);
  } catch {
    return null;
  } finally {
    busboy.destroy();
  }
}

describe('plainPartHead', () => {
  const disposition = 'Content-Disposition: form-data; name="transcript.txt"; filename="My talk (1).txt"';

  it.each([
    ['Go, curl, requests and undici', [disposition, 'Content-Type: text/plain; charset=utf-8']],
    ['aiohttp', ['Content-Type: text/plain; charset=utf-8', disposition]],
  ])('reads the header block of %s', (_, lines) => {
    expect(plainPartHead(block(...lines))).toEqual({
      name: 'transcript.txt',
      fileName: 'My talk (1).txt',
      contentType: 'text/plain; charset=utf-8',
    });
  });

  it('reads a block without file name or type', () => {
    expect(plainPartHead(block('content-disposition: form-data; name="x"'))).toEqual({ name: 'x' });
  });

  it.each([
    ['an escape', ['Content-Disposition: form-data; name="a\\"b"']],
    ['a character beyond ASCII', ['Content-Disposition: form-data; name="\xc3\xbc"']],
    ['a path', ['Content-Disposition: form-data; name="x"; filename="a/b"']],
    ['a name of dots', ['Content-Disposition: form-data; name="x"; filename=".."']],
    ['an empty name', ['Content-Disposition: form-data; name=""']],
    ['another disposition', ['Content-Disposition: attachment; name="x"']],
    ['a third field', [disposition, 'Content-Type: text/plain', 'Content-Transfer-Encoding: base64']],
    ['no disposition', ['Content-Type: text/plain']],
    ['a folded line', ['Content-Disposition: form-data;', ' name="x"']],
    ['more than a kilobyte', [`Content-Disposition: form-data; name="${'x'.repeat(1024)}"`]],
  ])('leaves a block with %s to busboy', (_, lines) => {
    expect(plainPartHead(block(...lines))).toBeNull();
  });

  it('reads what busboy reads', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme-ascii', maxLength: 12 }),
      fc.string({
        unit: fc.constantFrom('a', '.', '/', '\\', '"', ' ', ';', '%', "'", '*', '=', '\t', '\xe9'),
      }),
    );
    const param = fc.tuple(fc.constantFrom('name', 'NAME', 'filename', 'filename*'), text);
    const disposition = fc
      .tuple(text, fc.array(param, { maxLength: 2 }))
      .map(([name, more]) =>
        [
          'Content-Disposition: form-data',
          ...[['name', name], ...more].map(([key, value]) => `${key}="${value}"`),
        ].join('; '),
      );
    const line = fc.oneof(
      disposition,
      text.map((type) => `Content-Type: ${type}`),
      fc.constantFrom('content-type: a/b', 'X: y', 'Content-Transfer-Encoding: 8bit', '', ' ', ':'),
    );
    let plain = 0;
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 3 }), (lines) => {
        const bytes = block(...lines);
        const head = plainPartHead(bytes);
        if (head === null) return;
        plain += 1;
        expect(head).toEqual(busboyHead(bytes));
      }),
      { numRuns: 5000 },
    );
    expect(plain).toBeGreaterThan(100);
  });
});
