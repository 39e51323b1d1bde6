import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UndecodableError } from '../../../../src/archive/content/decode-error.js';
import { decodeBody } from '../../../../src/receive/decode/decode-body.js';
import {
  BOUNDARY,
  chunksOf,
  damagedDelimiter,
  formBody,
  formType,
  type PartSpec,
} from '../../../support/http/multipart.js';
import { RecordingSink } from '../../../support/store/recording-sink.js';

/** The bytes of every part as text, which a test compares much faster than buffers. */
async function partsOf(body: Buffer, sizes: readonly number[]): Promise<string[] | null> {
  const sink = new RecordingSink();
  const headers = { contentType: formType(), contentEncoding: null, contentLength: null, contents: [] };
  try {
    await decodeBody(headers, chunksOf(body, ...sizes), sink, { maxBytes: 1e9 });
  } catch (error) {
    if (error instanceof UndecodableError) return null;
    throw error;
  }
  if (!sink.items.every((item) => item.ended)) throw new Error('a part that did not end was decoded');
  return sink.items.map((item) => item.bytes.toString('latin1'));
}

const fragment = fc.oneof(
  fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(
      '\r\n',
      '\r',
      '\n',
      '-',
      '--',
      BOUNDARY,
      `\r\n--${BOUNDARY}`,
      `\r\n--${BOUNDARY}x`,
      `\r\n--${BOUNDARY.slice(0, 9)}`,
      ' ',
      'Content-Disposition: x\r\n\r\n',
    )
    .map((text) => Buffer.from(text)),
);
/** Content of any bytes in which no line is a delimiter. */
const content = fc
  .array(fragment, { maxLength: 12 })
  .map((fragments) => Buffer.concat(fragments))
  .filter(
    (bytes) =>
      !new RegExp(`\\r\\n--${BOUNDARY}(--)?[ \\t]*\\r\\n`).test(`\r\n${bytes.toString('latin1')}\r\n`) &&
      !damagedDelimiter().test(`\n${bytes.toString('latin1')}`),
  );

const partSpec: fc.Arbitrary<PartSpec> = fc
  .record(
    {
      name: fc.oneof(
        fc.constantFrom('data', 'transcript.txt', 'transcript:srt', 'x'),
        fc.string({ unit: 'grapheme' }),
      ),
      fileName: fc.oneof(fc.constant('a.wav'), fc.string({ unit: 'grapheme' })),
      type: fc.constantFrom(
        'application/json',
        'application/octet-stream',
        'text/plain; charset=utf-16',
        'x',
      ),
      body: content,
    },
    { requiredKeys: ['body'] },
  )
  .filter(
    ({ name = '', fileName = '' }) =>
      !/[\p{Cc}]/u.test(name + fileName) && !/^(transcript|jobinfo)$/i.test(name),
  );

const sizes = fc.oneof(
  fc.constant([]),
  fc.constant([1]),
  fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 }),
);
const formSpec = fc.record(
  {
    preamble: fc.constantFrom('', ' ', '\r\n\t'),
    epilogue: fc.constantFrom(
      '',
      '\r\n',
      '\r\n \r\n',
      '\r',
      '\n',
      '\r\r\n',
      '\n\n \t\r',
      '\n\r\n',
      `\r${' '.repeat(500)}\n`,
    ),
    padding: fc.constantFrom(' ', '\t ', ' '.repeat(500)),
  },
  { requiredKeys: [] },
);

describe('decodeBody on generated forms', () => {
  it('gives exactly the bytes of every part in any chunks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(partSpec, { maxLength: 6 }), formSpec, sizes, async (parts, form, cuts) => {
        const body = formBody(parts, form);
        expect(await partsOf(body, cuts)).toEqual(
          parts.map((part) => (part.body as Buffer).toString('latin1')),
        );
      }),
      { numRuns: 400 },
    );
  });

  it('never accepts a truncated form as complete', async () => {
    const parts = [
      { name: 'transcript', type: 'application/json', body: '{"format":"2.9","results":[]}' },
      { name: 'data', fileName: 'a.wav', body: Buffer.from([0, 255, 13, 10, 45, 45]) },
    ];
    const body = formBody(parts, { epilogue: '' });
    for (let length = 1; length < body.length; length++) {
      expect(await partsOf(body.subarray(0, length), [])).toBeNull();
      expect(await partsOf(body.subarray(0, length), [1])).toBeNull();
    }
    expect(await partsOf(body, [])).toHaveLength(2);
  });

  it('rejects a damaged delimiter in a large chunk or across two, wherever they meet', async () => {
    const damaged = `\n--${BOUNDARY}\nContent-Disposition: form-data; name="transcript.txt"\r\n\r\nwords`;
    const filling = 'x'.repeat(20_000);
    const body = formBody([{ name: 'data', body: filling + damaged + filling }]);
    const start = body.indexOf(damaged);
    const cuts = Array.from({ length: damaged.length + 3 }, (_, n) => start - 2 + n);
    for (const cut of [1, ...cuts]) {
      const moved = formBody([
        { name: 'data', body: `${'x'.repeat(2000 + cut)}${damaged}${'x'.repeat(900)}` },
      ]);
      expect(await partsOf(body, [cut, body.length])).toBeNull();
      expect(await partsOf(moved, [13])).toBeNull();
    }
  });
});
