import { createHash, randomBytes } from 'node:crypto';
import zlib from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import {
  BodyTooLargeError,
  EncodingRefusedError,
  UndecodableError,
} from '../../../../src/archive/content/decode-error.js';
import type { Problem } from '../../../../src/domain/problem.js';
import { type BodyHeaders, decodeBody } from '../../../../src/receive/decode/decode-body.js';
import type { DecodeLimits } from '../../../../src/receive/decode/inflated-source.js';
import { BOUNDARY, chunksOf, formBody, formType, type PartSpec } from '../../../support/http/multipart.js';
import { RecordingSink, type RecordingSinkOptions } from '../../../support/store/recording-sink.js';

const MAX_BYTES = 64 * 1024 * 1024;
const LIMITS = { maxBytes: MAX_BYTES };
const TRANSCRIPT = '{"format":"2.9","job":{"id":"a"},"metadata":{},"results":[{"type":"word"}]}';
const JOBINFO = '{"id":"a","config":{"type":"transcription"}}';
const SRT = '1\r\n00:00:00,720 --> 00:00:01,360\r\nWelcome\r\n\r\n';

interface Sent extends Partial<BodyHeaders> {
  readonly body: Buffer | string;
  readonly sizes?: number[];
  readonly maxBytes?: number;
  readonly sinkOptions?: RecordingSinkOptions;
  readonly memory?: Pick<DecodeLimits, 'memory'>;
}

/** Decodes a body and tells what the sink got, as `kind: bytes`. */
async function decode({ body, sizes = [], sinkOptions, maxBytes = MAX_BYTES, memory, ...rest }: Sent) {
  const sink = new RecordingSink(sinkOptions);
  const defaults = { contentType: null, contentEncoding: null, contentLength: null, contents: [] };
  const chunks = chunksOf(Buffer.from(body as string), ...sizes);
  const parts = await decodeBody({ ...defaults, ...rest }, chunks, sink, { maxBytes, ...memory });
  return {
    parts,
    items: sink.items,
    got: sink.items.map((item) => [item.identity?.kind, item.bytes.toString()]),
  };
}

function form(parts: readonly PartSpec[], rest: Partial<Sent> = {}) {
  return decode({ contentType: formType(), body: formBody(parts), ...rest });
}

const raw = (body: string | Buffer, rest: Partial<Sent> = {}) =>
  decode({ contentType: formType(), body, ...rest });

/** Expects the encoding to be refused; tells why, and what had been decoded by then. */
async function refusal(sent: Sent) {
  let bytes = 0;
  let items = 0;
  const onWrite = (_: unknown, chunk: Buffer) => {
    items = 1;
    bytes += chunk.length;
    return undefined;
  };
  const error = await decode({ ...sent, sinkOptions: { onWrite } }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(EncodingRefusedError);
  return { items, bytes, refused: (error as Error).message };
}

describe('decodeBody: no body', () => {
  it.each([
    null,
    'application/json',
    'text/plain',
    formType(),
    'multipart/mixed',
    'multipart/form-data',
    'nonsense',
  ])('is no item, whatever the content type: %s', async (contentType) => {
    expect((await decode({ contentType, body: '' })).items).toEqual([]);
    expect((await decode({ contentType, contentEncoding: 'gzip', body: '' })).items).toEqual([]);
  });

  it('is no item either when an encoded body unfolds to nothing', async () => {
    const body = zlib.gzipSync('');
    expect((await decode({ contentType: 'application/json', contentEncoding: 'gzip', body })).items).toEqual(
      [],
    );
  });
});

describe('decodeBody: one raw body', () => {
  it.each([
    ['application/json', TRANSCRIPT, 'transcript.json-v2', 'application/json'],
    ['Application/JSON; charset=utf-8', JOBINFO, 'jobinfo', 'application/json'],
    ['application/vnd.job+json', TRANSCRIPT, 'transcript.json-v2', 'application/json'],
    ['application/json', '\ufeff[]', 'jobinfo', 'application/json'],
    ['application/json', '{"format":1,"results":[]}', 'jobinfo', 'application/json'],
    ['text/plain', SRT, 'transcript.srt', 'application/x-subrip; charset=utf-8'],
    ['text/plain; charset=utf-8', `\ufeff${SRT.replaceAll('\r', '')}`, 'transcript.srt', undefined],
    ['text/plain', 'Welcome to this.', 'transcript.txt', 'text/plain; charset=utf-8'],
    ['text/plain', '1\nWelcome', 'transcript.txt', undefined],
    ['text/plain', SRT.replaceAll(',', '.'), 'transcript.srt', undefined],
    ['text/plain', SRT.replaceAll('\r\n', '\r'), 'transcript.srt', undefined],
    ['text/plain', `\r\n \r\n${SRT}`, 'transcript.srt', undefined],
    ['text/plain', SRT.replace(' --> ', '-->'), 'transcript.srt', undefined],
    ['text/plain', '1\n0:00:00,72 --> 0:00:01,36\nWelcome\n', 'transcript.srt', undefined],
    ['text/plain', '1\n00:00 --> 00:01\nWelcome\n', 'transcript.txt', undefined],
    ['text/plain', `Said: 1\n00:00:00,720 --> 00:00:01,360`, 'transcript.txt', undefined],
    ['application/x-subrip', SRT, 'transcript.srt', 'application/x-subrip; charset=utf-8'],
    ['text/srt', '\r\n', 'transcript.srt', 'application/x-subrip; charset=utf-8'],
    ['Application/SRT; charset=utf-8', SRT, 'transcript.srt', undefined],
    ['text/x-srt', SRT, 'transcript.srt', undefined],
    ['application/octet-stream', TRANSCRIPT, 'data', 'application/octet-stream'],
    ['Audio/WAV; rate=8000', 'RIFF', 'data', 'audio/wav'],
    ['text/csv; charset="utf-8"', 'a,b', 'data', 'text/csv; charset=utf-8'],
    [null, TRANSCRIPT, 'data', 'application/octet-stream'],
    ['<script>', 'x', 'data', 'application/octet-stream'],
    ['json', '{', 'data', 'application/octet-stream'],
    ['application/x-www-form-urlencoded', 'a=b', 'data', 'application/x-www-form-urlencoded'],
    // Rule: Body rules: one of `transcript`, `transcript.json-v2`, `jobinfo`: `application/json`
    // Rule: Silences: a lone text: `.txt` or `.srt`
    // Rule: Silences: shape of `jobinfo` and json-v2
  ])('%s holding %j is %s', async (contentType, body, kind, storedType) => {
    for (const sizes of [[], [1], [7, 2]]) {
      const { got, items, parts } = await decode({ contentType, body, sizes });
      expect(got).toEqual([[kind, body]]);
      if (storedType !== undefined) expect(items[0]?.identity?.contentType).toBe(storedType);
      expect(parts).toBeUndefined();
    }
  });

  it.each([
    [['transcript.srt'], 'x', 'transcript.srt'],
    [['Transcript:TXT'], SRT, 'transcript.txt'],
    [['jobinfo', 'transcript.txt'], SRT, 'transcript.txt'],
    [['transcript.srt', 'transcript.txt'], SRT, 'transcript.srt'],
    [['transcript'], 'x', 'transcript.txt'],
  ])('text requested as %j is %3$s', async (contents, body, kind) => {
    expect((await decode({ contentType: 'text/plain', contents, body })).got).toEqual([[kind, body]]);
  });

  it.each([
    ['application/x-subrip', ['transcript.srt'], 'x', 'transcript.srt'],
    ['text/srt', ['transcript.txt'], SRT, 'transcript.txt'],
    ['text/srt', ['transcript'], 'x', 'transcript.srt'],
  ])('%s requested as %j is %4$s', async (contentType, contents, body, kind) => {
    expect((await decode({ contentType, contents, body })).got).toEqual([[kind, body]]);
  });

  it('passes the size to the sink when the framing has it', async () => {
    const body = zlib.gzipSync('x');
    const plain = await decode({ contentType: 'audio/wav', contentLength: 4, body: 'RIFF' });
    const encoded = await decode({
      contentType: 'audio/wav',
      contentEncoding: 'gzip',
      contentLength: body.length,
      body,
    });
    expect(plain.items[0]?.description.expectedBytes).toBe(4);
    expect(encoded.items[0]?.description.expectedBytes).toBeUndefined();
  });

  it.each(['{"a":1', '{"a":1}x', 'x', ' ', '{"results":[}'])(
    'JSON that does not parse is undecodable: %s',
    async (body) => {
      const undecodable = { reason: 'json-invalid' };
      await expect(decode({ contentType: 'application/json', body })).rejects.toMatchObject(undecodable);
      await expect(decode({ contentType: 'application/json', body, sizes: [1] })).rejects.toMatchObject(
        undecodable,
      );
    },
  );

  it('is identified by its first bytes once it is too large to buffer', async () => {
    const large = (text: string) =>
      decode({
        contentType: 'application/json',
        body: text,
        sizes: [20],
        sinkOptions: { identifyAfter: 30 },
      });
    const fill = `"x":"${'y'.repeat(100)}"`;
    expect((await large(`{"format":"2.9",${fill},"results":[]}`)).got[0]?.[0]).toBe('transcript.json-v2');
    expect((await large(`{${fill},"format":"2.9","results":[]}`)).got[0]?.[0]).toBe('jobinfo');
  });
});

describe('decodeBody: forms', () => {
  // Rule: Body rules: several items: `multipart/form-data`
  it('keeps the forms the service is known to send', async () => {
    const { got, parts, items } = await form([
      { name: 'transcript', fileName: 'a.json', type: 'application/octet-stream', body: TRANSCRIPT },
      { name: 'transcript.txt', fileName: 'a.txt', type: 'text/plain', body: 'Welcome' },
      { name: 'transcript.srt', fileName: 'a.srt', type: 'application/octet-stream', body: SRT },
      { name: 'jobinfo', fileName: 'jobinfo', type: 'application/json', body: JOBINFO },
      { name: 'data', fileName: 'ü "x".wav', type: 'audio/wav', body: 'RIFF' },
    ]);
    expect(got).toEqual([
      ['transcript.json-v2', TRANSCRIPT],
      ['transcript.txt', 'Welcome'],
      ['transcript.srt', SRT],
      ['jobinfo', JOBINFO],
      ['data', 'RIFF'],
    ]);
    expect(items.map((item) => item.description.fileName)).toEqual([
      'a.json',
      'a.txt',
      'a.srt',
      'jobinfo',
      'ü "x".wav',
    ]);
    expect(items[4]?.identity?.contentType).toBe('audio/wav');
    expect(parts).toHaveLength(5);
    expect(parts?.[4]).toEqual({
      name: 'data',
      contentType: 'audio/wav',
      bytes: 4,
    });
  });

  it.each([
    ['transcript', TRANSCRIPT, 'transcript.json-v2'],
    ['TRANSCRIPT.JSON-V2', TRANSCRIPT, 'transcript.json-v2'],
    ['transcript:json-v2', TRANSCRIPT, 'transcript.json-v2'],
    ['transcript.json-v2', JOBINFO, 'transcript.json-v2'],
    ['transcript:txt', SRT, 'transcript.txt'],
    ['transcript:srt', 'x', 'transcript.srt'],
    ['JobInfo', TRANSCRIPT, 'jobinfo'],
    ['data', TRANSCRIPT, 'data'],
    ['data_file', TRANSCRIPT, 'transcript.json-v2'],
    ['data_file', SRT, 'transcript.srt'],
    ['data_file', JOBINFO, 'attachment'],
    ['data_file', 'Welcome', 'attachment'],
    ['alignment', '{"format":"2.9","results":[', 'attachment'],
    [undefined, TRANSCRIPT, 'transcript.json-v2'],
    [undefined, '', 'attachment'],
    // Rule: Silences: names and types of parts
    // Rule: Silences: other callback statuses, other contents, `alignment` jobs
  ])('a part named %s holding %j is %s', async (name, body, kind) => {
    for (const type of [undefined, 'application/json', 'text/plain', 'audio/wav', 'nonsense']) {
      for (const fileName of [undefined, 'data']) {
        const part = { body, ...(name && { name }), ...(type && { type }), ...(fileName && { fileName }) };
        expect((await form([part])).got).toEqual([[kind, body]]);
      }
    }
  });

  it.each([
    ['notes', undefined, '', 'notes'],
    ['notes.bin', undefined, '.bin', 'notes.bin'],
    ['notes', 'Jane Roe, born 1980-02-03.docx', '.docx', 'notes'],
    ['../../etc/pass wd', undefined, '', '../../etc/pass wd'],
    ['.hidden', undefined, '', '.hidden'],
    ['a.b/../c', undefined, '', 'a.b/../c'],
    [undefined, 'fall back.bin', '.bin', undefined],
    [undefined, undefined, '', undefined],
    ['x'.repeat(300), undefined, '', 'x'.repeat(300)],
    ['transcript.json', undefined, '.json', 'transcript.json'],
    ['Call.MP3', undefined, '.mp3', 'Call.MP3'],
    ['a.7z', undefined, '.7z', 'a.7z'],
    ['Gespraech mit Dr.Schmidt', undefined, '', 'Gespraech mit Dr.Schmidt'],
    ['jane.roe', 'patient.19800203', '', 'jane.roe'],
    ['jane.roe', 'call.wav', '.wav', 'jane.roe'],
  ])(
    'an attachment named %s, %s has a hash of its name in its key and nowhere else',
    async (name, fileName, end, partName) => {
      const { items } = await form([
        { body: '\u0000', ...(name && { name }), ...(fileName && { fileName }) },
      ]);
      const digits = createHash('sha256')
        .update(name ?? fileName ?? '')
        .digest('hex')
        .slice(0, 16);
      expect(items[0]?.identity).toEqual({
        kind: 'attachment',
        contentType: 'application/octet-stream',
        attachmentName: `${digits}${end}`,
        ...(partName && { partName }),
      });
    },
  );

  it('gives the ledger interface names and sizes, no names from the sender', async () => {
    const { parts } = await form([
      { name: 'Transcript:TXT', fileName: 'Jane Roe.txt', type: 'text/plain; charset=Jane-Roe', body: 'x' },
      { name: 'Jane Roe', fileName: 'Jane Roe.docx', type: 'x/y; name="Jane Roe.docx"', body: '\0' },
      {
        headers: ['Content-Disposition: form-data; name="data"', 'Content-Transfer-Encoding: Jane-Roe'],
        body: '',
      },
      { name: 'data_file', type: 'Jane Roe', body: TRANSCRIPT },
    ]);
    expect(parts).toEqual([
      { name: 'Transcript:TXT', contentType: 'text/plain', bytes: 1 },
      { name: null, contentType: 'other', bytes: 1 },
      { name: 'data', transferEncoding: 'other', bytes: 0 },
      { name: 'data_file', contentType: 'other', bytes: TRANSCRIPT.length },
    ]);
  });

  it('has no items without parts', async () => {
    for (const body of [
      `--${BOUNDARY}--\r\n`,
      `--${BOUNDARY}--`,
      `\r\n--${BOUNDARY}--`,
      ` \t\r\n--${BOUNDARY}--`,
    ]) {
      expect((await raw(body)).parts).toEqual([]);
      expect((await raw(body, { sizes: [1] })).items).toEqual([]);
    }
  });

  it('refuses JSON parts that do not parse, by name only', async () => {
    await expect(form([{ name: 'transcript', body: '{' }])).rejects.toMatchObject({ reason: 'json-invalid' });
    await expect(form([{ name: 'jobinfo', body: '' }])).rejects.toMatchObject({ reason: 'json-invalid' });
    expect((await form([{ name: 'other', body: '{' }])).got).toEqual([['attachment', '{']]);
  });

  it('rejects an unknown part that turns out invalid after it was identified as a transcript', async () => {
    const body = `{"format":"2.9","results":[${'1,'.repeat(100)}]}`;
    const sent = { sizes: [50], sinkOptions: { identifyAfter: 100 } };
    await expect(form([{ name: 'data_file', body }], sent)).rejects.toMatchObject({ reason: 'json-invalid' });
    const whole = await form([{ name: 'data_file', body: body.replace(',]', ']') }], sent);
    expect(whole.got[0]?.[0]).toBe('transcript.json-v2');
  });
});

describe('decodeBody: hazards of forms', () => {
  it('keeps a JSON part without file name beyond busboy’s field limit', async () => {
    const body = JSON.stringify({ format: '2.9', results: ['ü'.repeat(700_000)] });
    expect(
      (await form([{ name: 'transcript', type: 'application/json', body }], { sizes: [65_536] })).got,
    ).toEqual([['transcript.json-v2', body]]);
  });

  it.each([
    [['Content-Disposition: attachment; name="data"; filename="x.bin"'], 'data', 'x.bin'],
    [['Content-Disposition: attachment; filename="x.bin"'], 'attachment', 'x.bin'],
    [['Content-Disposition: inline'], 'attachment', undefined],
    [['Content-Type: audio/wav'], 'attachment', undefined],
    [[], 'attachment', undefined],
    [['Content-Disposition: form-data; name="data"; filename*=utf-8\'\'%zz'], 'data', undefined],
    [['Content-Disposition: form-data; name="data"; filename="a"b".wav"'], 'data', undefined],
    [['Content-Disposition: form-data; filename="a"b"; name="data"'], 'data', undefined],
    [['Content-Disposition: form-data; name=data; filename=a b.wav'], 'data', undefined],
    [['Content-Disposition: form-data; name="data"; filename=ä.wav'], 'data', undefined],
    [['Content-Disposition: form-data; name="data"; filename="a.wav";'], 'data', undefined],
    [['Content-Disposition: form-data; name="data"; filename="unterminated'], 'data', undefined],
    [['Content-Disposition: form-data; name = "data"'], 'data', undefined],
    [['Content-Disposition: form-data; filename="; name=data"; x'], 'attachment', undefined],
    [['Content-Disposition: form-data; name="data'], 'attachment', undefined],
    [['Content-Disposition: form-data; name="data"; filename*=utf-8\'\'%C3%BC.wav'], 'data', 'ü.wav'],
    [['content-disposition:form-data;name=data'], 'data', undefined],
    [['Content-Disposition: form-data;', ' name="data"'], 'data', undefined],
    [['Content-Disposition: form-data; name="data"; filename="C:\\dir\\x.wav"'], 'data', 'x.wav'],
    [['Content-Disposition: form-data; name="data"; filename="../x.wav"'], 'data', 'x.wav'],
    [['Content-Disposition: form-data; name="data"; filename=""'], 'data', undefined],
    [
      ['X: y', 'Content-Type: a/b', 'Content-Type: c/d', 'Content-Disposition: form-data; name="data"'],
      'data',
      undefined,
    ],
  ])('drops no part headed %j', async (headers, kind, fileName) => {
    for (const sizes of [[], [1]]) {
      const body = formBody([
        { headers, body: 'RIFF' },
        { name: 'transcript.txt', body: 'x' },
      ]);
      const { got, items } = await raw(body, { sizes });
      expect(got).toEqual([
        [kind, 'RIFF'],
        ['transcript.txt', 'x'],
      ]);
      expect(items[0]?.description.fileName).toBe(fileName);
    }
  });

  it('records a transfer encoding and leaves the bytes as they are', async () => {
    const headers = ['Content-Disposition: form-data; name="data"', 'Content-Transfer-Encoding: BASE64'];
    const { got, parts } = await form([{ headers, body: 'UklGRg==' }]);
    expect(got).toEqual([['data', 'UklGRg==']]);
    expect(parts).toEqual([{ name: 'data', transferEncoding: 'base64', bytes: 8 }]);
  });

  it.each(['\rbye', '\nbye', '\r\r\n.', `\n${' '.repeat(2000)}`, '\n\0', `\n--${BOUNDARY}`])(
    'is not complete when the last boundary is followed by %j',
    async (epilogue) => {
      const body = formBody([{ name: 'data', body: 'a' }], { epilogue });
      for (const sizes of [[], [1], [13]]) {
        await expect(raw(body, { sizes })).rejects.toMatchObject({ reason: 'multipart-unterminated' });
      }
    },
  );

  it.each([
    ['a preamble', 'This is a form.', '\r\n'],
    ['a line that misses a dash', `-${BOUNDARY}`, '\r\n'],
    ['an epilogue', '', '\r\nbye'],
    ['a transcript behind the end', '', `\r\n${TRANSCRIPT}`],
    ['one byte behind the end', '', '\r\n\0'],
  ])('is undecodable with %s', async (_, preamble, epilogue) => {
    const body = formBody([{ name: 'data', body: 'a' }], { preamble, epilogue });
    for (const sizes of [[], [1], [13]]) {
      await expect(raw(body, { sizes })).rejects.toMatchObject({ reason: 'multipart-unaccounted' });
    }
  });

  it.each([
    ['a dash too many', `\r\n---${BOUNDARY}\r\n`],
    ['a dash too few', `\r\n-${BOUNDARY}\r\n`],
    ['no dashes', `\r\n${BOUNDARY}\r\n`],
    ['a line feed before it', `\n--${BOUNDARY}\r\n`],
    ['a line feed behind it', `\r\n--${BOUNDARY}\n`],
    ['a carriage return behind it', `\r\n--${BOUNDARY}\r`],
    ['no line end before it', `--${BOUNDARY}\r\n`],
    ['no line end behind it', `\r\n--${BOUNDARY}`],
    ['white space and no line end behind it', `\r\n--${BOUNDARY} \t`],
    ['a blank line behind a closing one', `\r\n--${BOUNDARY}--\n\r\n`],
  ])('is undecodable when the delimiter before a part has %s', async (_, delimiter) => {
    const second = 'CONTENT-Disposition: form-data; name="transcript.txt"\r\n\r\nwords';
    for (const filling of ['{}', 'x'.repeat(8_150), 'x'.repeat(8_192), 'x'.repeat(50_000)]) {
      const body = formBody([{ name: 'data', body: `${filling}${delimiter}${second}` }]);
      for (const sizes of filling.length < 100 ? [[], [1], [13]] : [[], [8_191], [100, 3_000]]) {
        await expect(raw(body, { sizes })).rejects.toMatchObject({ reason: 'multipart-unaccounted' });
      }
    }
  });

  it('keeps a line that begins like a delimiter before text that is no header', async () => {
    const text = `a\n--${BOUNDARY}\ncontent-free words`;
    expect((await form([{ name: 'data', body: text }])).got).toEqual([['data', text]]);
  });

  const part = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="data"\r\n\r\nRIFF`;
  it.each([
    ['no closing delimiter', part, 'multipart-unterminated'],
    ['bare line feeds', `${part}\r\n--${BOUNDARY}--\r\n`.replaceAll('\r', ''), 'multipart-unaccounted'],
    ['only a preamble', 'hello', 'multipart-unaccounted'],
    ['only white space', '\r\n', 'multipart-unterminated'],
    ['a doubled delimiter', `--${BOUNDARY}\r\n${part}\r\n--${BOUNDARY}--`, 'multipart-header'],
    ['a delimiter in a header', `--${BOUNDARY}\r\nX: y\r\n${part}\r\n--${BOUNDARY}--`, 'multipart-header'],
    [
      'a header line without colon',
      `--${BOUNDARY}\r\nnonsense\r\n\r\nx\r\n--${BOUNDARY}--`,
      'multipart-header',
    ],
    [
      'a bare line feed in a header',
      `--${BOUNDARY}\r\nA: b\nC: d\r\n\r\nx\r\n--${BOUNDARY}--`,
      'multipart-header',
    ],
    [
      'a header block over 16 KiB',
      `--${BOUNDARY}\r\nA: ${'b'.repeat(17_000)}\r\n\r\nx\r\n--${BOUNDARY}--`,
      'multipart-header',
    ],
    [
      'header blocks over 128 KiB together',
      `${`--${BOUNDARY}\r\nContent-Disposition: form-data; name="data"; filename="${'b'.repeat(1350)}"\r\n\r\nx\r\n`.repeat(95)}--${BOUNDARY}--`,
      'multipart-header',
    ],
    ['an endless header', `--${BOUNDARY}\r\n${'A: b\r\n'.repeat(20_000)}`, 'multipart-header'],
    [
      'a part after the closing delimiter',
      `${part}\r\n--${BOUNDARY}--\r\n${part}\r\n--${BOUNDARY}--`,
      'multipart-unaccounted',
    ],
    ['a part before the first delimiter', `-${part}\r\n${part}\r\n--${BOUNDARY}--`, 'multipart-unaccounted'],
  ])('is undecodable with %s', async (_, body, reason) => {
    const sizes = body.length > 10_000 ? [[], [13]] : [[], [1], [13]];
    for (const each of sizes) await expect(raw(body, { sizes: each })).rejects.toMatchObject({ reason });
  });

  it('never treats a delimiter as a header, even when the boundary resembles one', async () => {
    const body =
      '--a:b\r\nX: y\r\n--a:b\r\nContent-Disposition: form-data; name="data"\r\n\r\nRIFF\r\n--a:b--';
    await expect(raw(body, { contentType: formType('a:b') })).rejects.toMatchObject({
      reason: 'multipart-header',
    });
  });

  it('counts parts', async () => {
    const parts = Array.from({ length: 101 }, () => ({ name: 'data', body: 'x' }));
    await expect(form(parts)).rejects.toMatchObject({ reason: 'too-many-parts' });
    expect((await form(parts.slice(1))).items).toHaveLength(100);
  });

  it.each([
    ['multipart/form-data', 'multipart-boundary'],
    ['multipart/form-data; boundary=', 'multipart-boundary'],
    ['multipart/form-data; boundary=""', 'multipart-boundary'],
    ['multipart/form-data; boundary="x "', 'multipart-boundary'],
    [`multipart/form-data; boundary=${'x'.repeat(71)}`, 'multipart-boundary'],
    ['multipart/form-data; boundary=a; boundary=b', 'multipart-boundary'],
    ['multipart/form-data; boundary="ü"', 'multipart-boundary'],
    ['multipart/mixed; boundary=x', 'multipart-unsupported'],
    ['multipart/', 'multipart-unsupported'],
  ])('is undecodable as %s', async (contentType, reason) => {
    await expect(decode({ contentType, body: '--x--' })).rejects.toMatchObject({ reason });
  });

  it.each([
    ['x', 'boundary=x'],
    ['X', 'boundary = X'],
    ['a b', 'boundary\t= "a b"; charset=utf-8'],
    ['x', 'charset=utf-8; BOUNDARY="x"; foo=bar'],
    ['a b', 'boundary="a b"'],
    ["'()+_,-./:=?", `boundary="'()+_,-./:=?"`],
    ['a/b=c?', 'boundary=a/b=c?'],
    ['a"b\\', 'boundary="a\\"b\\\\"'],
    ['x'.repeat(70), `boundary=${'x'.repeat(70)}`],
    ['-', 'boundary="-"'],
    ['.*', 'boundary=".*"'],
  ])('understands the boundary %j of %j', async (boundary, params) => {
    const body = formBody([{ name: 'data', body: '\r\n--\r\n----\r\n-' }], { boundary });
    const contentType = `Multipart/Form-Data; ${params}`;
    for (const sizes of [[], [1]]) {
      expect((await decode({ contentType, body, sizes })).got).toEqual([['data', '\r\n--\r\n----\r\n-']]);
    }
  });
});

describe('decodeBody: content encodings', () => {
  /** At its best, which is the default, brotli takes a second. */
  const brotli = (bytes: Buffer) =>
    zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } });
  const codings: [string, (bytes: Buffer) => Buffer][] = [
    ['gzip', (bytes) => zlib.gzipSync(bytes)],
    ['X-GZIP', (bytes) => zlib.gzipSync(bytes)],
    ['deflate', (bytes) => zlib.deflateSync(bytes)],
    ['deflate', (bytes) => zlib.deflateRawSync(bytes)],
    ['br', brotli],
    ['identity, br ,', (bytes) => brotli(bytes)],
    [
      'gzip',
      (bytes) => Buffer.concat([zlib.gzipSync(bytes.subarray(0, 9)), zlib.gzipSync(bytes.subarray(9))]),
    ],
  ];

  it.each(codings)('undoes %s', async (contentEncoding, encode) => {
    const body = JSON.stringify({
      format: '2.9',
      results: Array.from({ length: 40_000 }, (_, index) => index * 7919),
    });
    const encoded = encode(Buffer.from(body));
    for (const sizes of [[], [997]]) {
      const { got, parts } = await decode({
        contentType: 'application/json',
        contentEncoding,
        body: encoded,
        sizes,
      });
      expect(got).toEqual([['transcript.json-v2', body]]);
      expect(parts).toBeUndefined();
    }
    const small = encode(Buffer.from(TRANSCRIPT));
    expect(
      (await decode({ contentType: 'application/json', contentEncoding, body: small, sizes: [1] }))
        .got[0]?.[1],
    ).toBe(TRANSCRIPT);
  });

  it('takes raw deflate data for what it is, although it resembles a zlib header', async () => {
    // An unfinished stored block whose unused bits are set: the low half of its first byte is the 8 of zlib.
    const bytes = Buffer.from(TRANSCRIPT);
    const size = Buffer.from([bytes.length & 0xff, bytes.length >> 8]);
    const stored = Buffer.concat([Buffer.from([0x08]), size, size.map((byte) => byte ^ 0xff), bytes]);
    const unfinished = Buffer.concat([stored, zlib.deflateRawSync('')]);
    // The first two bytes are a multiple of 31, as those of a zlib header.
    const texts = Array.from({ length: 300 }, (_, index) => TRANSCRIPT + ' '.repeat(index));
    const multiple = texts.find((text) => zlib.deflateRawSync(text).readUInt16BE() % 31 === 0) as string;
    for (const [text, body] of [
      [TRANSCRIPT, unfinished],
      [multiple, zlib.deflateRawSync(multiple)],
    ] as const) {
      const { got } = await decode({ contentType: 'application/json', contentEncoding: 'deflate', body });
      expect(got).toEqual([['transcript.json-v2', text]]);
    }
  });

  it('undoes the encoding of a form', async () => {
    const body = zlib.gzipSync(formBody([{ name: 'transcript', body: TRANSCRIPT }]));
    expect((await raw(body, { contentEncoding: 'gzip', sizes: [3] })).got).toEqual([
      ['transcript.json-v2', TRANSCRIPT],
    ]);
  });

  it('treats identity as no encoding', async () => {
    const sent = { contentType: 'text/plain', contentEncoding: 'identity', contentLength: 1, body: 'x' };
    expect((await decode(sent)).items[0]?.description.expectedBytes).toBe(1);
  });

  it.each(codings)(
    'refuses %s when it is cut short, followed by something or damaged',
    async (contentEncoding, encode) => {
      const whole = encode(Buffer.from(TRANSCRIPT.repeat(50)));
      const damaged = Buffer.from(whole);
      damaged.fill(0xff, 5, 15);
      const broken = [
        whole.subarray(0, -1),
        whole.subarray(0, -6),
        whole.subarray(0, 1),
        Buffer.concat([whole, Buffer.from('x')]),
        Buffer.concat([whole, Buffer.alloc(100_000)]),
        damaged,
        Buffer.from('not encoded at all'),
      ];
      for (const [index, body] of broken.entries()) {
        for (const sizes of [[], [1000], [whole.length], [1]]) {
          if (sizes[0] === 1 && body.length > 10_000) continue;
          const outcome = decode({ contentType: 'audio/wav', contentEncoding, body, sizes });
          await expect(outcome.catch((error) => [index, error.reason])).resolves.toEqual([
            index,
            'encoding-corrupt',
          ]);
        }
      }
    },
  );

  it.each(['compress', 'toString', 'gzip;q=1'])('does not know %s', async (contentEncoding) => {
    await expect(decode({ contentEncoding, body: 'x' })).rejects.toMatchObject({
      reason: 'encoding-unsupported',
    });
  });

  it('decodes an encoded body to just the limit', async () => {
    const body = zlib.gzipSync('x'.repeat(1000));
    const sent = { contentType: 'audio/wav', contentEncoding: 'gzip', body };
    expect((await decode({ ...sent, maxBytes: 1000 })).got).toEqual([['data', 'x'.repeat(1000)]]);
    await expect(decode({ ...sent, maxBytes: 999 })).rejects.toEqual(new BodyTooLargeError(999));
  });

  it('stops a bomb at the limit', async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(5 * 1024 * 1024));
    const sent = { contentType: 'audio/wav', maxBytes: 1_000_000 };
    let taken = 0;
    const onWrite = (_: unknown, chunk: Buffer) => {
      taken += chunk.length;
      expect(chunk.length).toBeLessThanOrEqual(256 * 1024);
      return undefined;
    };
    const outcome = decode({ ...sent, contentEncoding: 'gzip', body: bomb, sinkOptions: { onWrite } });
    await expect(outcome).rejects.toEqual(new BodyTooLargeError(1_000_000));
    expect(taken).toBeLessThanOrEqual(1_000_000);
  });

  it.each(['gzip, gzip', 'br,gzip', 'identity, gzip, snappy'])(
    'refuses a second encoding unread: %s',
    async (contentEncoding) => {
      const body = zlib.gzipSync(zlib.gzipSync(TRANSCRIPT));
      const { items, refused } = await refusal({ contentType: 'application/json', contentEncoding, body });
      expect({ items, refused }).toEqual({ items: 0, refused: expect.stringMatching(/several/) });
    },
  );

  it('decodes one encoding once, also when its content is encoded', async () => {
    const inner = zlib.gzipSync(TRANSCRIPT);
    const { got } = await decode({
      contentType: 'application/gzip',
      contentEncoding: 'gzip',
      body: zlib.gzipSync(inner),
    });
    expect(got).toEqual([['data', inner.toString()]]);
  });

  const zeros = (mebibytes: number) => Buffer.alloc(mebibytes * 1024 * 1024);
  it.each<[string, string, Buffer]>([
    ['gzip', 'gzip', zlib.gzipSync(zeros(2))],
    ['a large gzip', 'gzip', zlib.gzipSync(zeros(20))],
    ['brotli', 'br', brotli(zeros(20))],
    ['deflate', 'deflate', zlib.deflateSync(zeros(2))],
    ['one byte over 1 MiB', 'gzip', zlib.gzipSync(Buffer.alloc(1024 * 1024 + 1))],
  ])('refuses a bomb in %s before it has expanded', async (_, contentEncoding, body) => {
    for (const sizes of [[], [997]]) {
      const { bytes, refused } = await refusal({ contentType: 'audio/wav', contentEncoding, body, sizes });
      expect(refused).toMatch(/200 : 1/);
      expect(bytes).toBeLessThanOrEqual(200 * (body.length + 64 * 1024));
    }
  });

  const payingFor = async (contentEncoding: string, body: Buffer, free: number) => {
    const payments: number[] = [];
    const memory: Required<DecodeLimits>['memory'] = {
      setAside: (bytes) => bytes <= free && payments.push(bytes) > 0,
      giveAside: () => void payments.push(...payments.map((bytes) => -bytes)),
    };
    const result = await decode({ contentEncoding, body, memory: { memory } }).catch(
      (error: Problem) => error,
    );
    return { payments, code: (result as Problem).code };
  };
  it.each([10, 11, 15, 16, 17, 18, 22, 24])(
    'pays for the window of 2^%s bytes that brotli names, and returns it',
    async (bits) => {
      const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: 5, [zlib.constants.BROTLI_PARAM_LGWIN]: bits };
      const body = zlib.brotliCompressSync('x', { params });
      const window = 2 ** bits;
      expect(await payingFor('br', body, window)).toEqual({ payments: [window, -window], code: undefined });
      expect(await payingFor('br', body, window - 1)).toEqual({ payments: [], code: 'overloaded' });
    },
  );

  it('pays for no window of gzip', async () => {
    expect(await payingFor('gzip', zlib.gzipSync('x'), 0)).toEqual({ payments: [], code: undefined });
  });

  it.each<[string, Buffer]>([
    [
      'a transcript of 1 MiB that compresses 1,000 : 1',
      Buffer.from(`{"results":[${' '.repeat(1024 * 1024 - 14)}]}`),
    ],
    ['a recording that begins with silence', Buffer.concat([zeros(4), randomBytes(40_000)])],
  ])('decodes %s', async (_, content) => {
    for (const sizes of [[], [997]]) {
      const { items } = await decode({
        contentType: 'audio/wav',
        contentEncoding: 'gzip',
        body: zlib.gzipSync(content),
        sizes,
      });
      expect(items[0]?.bytes.equals(content)).toBe(true);
    }
  });
});

describe('decodeBody: limits and failures', () => {
  it('accepts a body of exactly the limit and none larger', async () => {
    expect(
      (await decode({ body: Buffer.alloc(1000), sizes: [300], maxBytes: 1000 })).items[0]?.bytes,
    ).toHaveLength(1000);
    await expect(decode({ body: Buffer.alloc(1001), sizes: [300], maxBytes: 1000 })).rejects.toEqual(
      new BodyTooLargeError(1000),
    );
  });

  /** A body that tells how much of it was taken and whether it was let go. */
  function watched(chunks: readonly Buffer[], failure?: Error) {
    const seen = { taken: 0, closed: 0 };
    async function* body() {
      try {
        for (const chunk of chunks) {
          seen.taken++;
          yield chunk;
        }
        if (failure) throw failure;
      } finally {
        seen.closed++;
      }
    }
    return { seen, body: body() };
  }

  const chunks = Array.from({ length: 50 }, () => Buffer.from('{]'));
  const headers = {
    contentType: 'application/json',
    contentEncoding: null,
    contentLength: null,
    contents: [],
  };

  it('reads an undecodable body to its end before it says so', async () => {
    for (const contentEncoding of [null, 'gzip']) {
      const { seen, body } = watched(chunks);
      await expect(
        decodeBody({ ...headers, contentEncoding }, body, new RecordingSink(), LIMITS),
      ).rejects.toThrow(UndecodableError);
      expect(seen).toEqual({ taken: 50, closed: 1 });
    }
  });

  it('keeps to the limit while it does', async () => {
    const { seen, body } = watched(chunks);
    const outcome = decodeBody(headers, body, new RecordingSink(), { maxBytes: 20 });
    await expect(outcome).rejects.toThrow(BodyTooLargeError);
    expect(seen).toEqual({ taken: 11, closed: 1 });
  });

  const gzipped = zlib.gzipSync(
    Buffer.from(JSON.stringify(Array.from({ length: 9000 }, (_, index) => index * 7919))),
  );
  const forms: [string, Partial<BodyHeaders>, Buffer][] = [
    ['a lone body', { contentType: 'audio/wav' }, Buffer.alloc(50_000)],
    [
      'a form',
      { contentType: formType() },
      formBody(['a', 'b'].map((name) => ({ name, body: Buffer.alloc(20_000) }))),
    ],
    ['an encoded body', { contentType: 'application/json', contentEncoding: 'gzip' }, gzipped],
  ];
  const cut = (body: Buffer) =>
    Array.from({ length: 40 }, (_, index) =>
      body.subarray((index * body.length) / 40, ((index + 1) * body.length) / 40),
    );

  it.each(forms)('passes on what the body of %s throws', async (_, given, whole) => {
    const failure = new Error('aborted');
    for (const length of [0, 1, 7, 30]) {
      const { body } = watched(cut(whole).slice(0, length), failure);
      await expect(decodeBody({ ...headers, ...given }, body, new RecordingSink(), LIMITS)).rejects.toBe(
        failure,
      );
    }
  });

  it.each(forms)('leaves no late rejection when %s breaks off', async (_, given, whole) => {
    const late: unknown[] = [];
    const note = (error: unknown) => late.push(error);
    process.on('unhandledRejection', note).on('uncaughtException', note);
    const failure = new Error('aborted');
    const onWrite = () => Promise.reject(failure);
    for (const length of [1, 7, 30]) {
      const pieces = cut(whole).slice(0, length);
      await decodeBody(
        { ...headers, ...given },
        watched(pieces, failure).body,
        new RecordingSink(),
        LIMITS,
      ).catch(note);
      await decodeBody(
        { ...headers, ...given },
        watched(pieces).body,
        new RecordingSink({ onWrite }),
        LIMITS,
      ).catch(note);
    }
    const reported = late.splice(0);
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    process.off('unhandledRejection', note).off('uncaughtException', note);
    expect(reported).toHaveLength(6);
    expect(late).toEqual([]);
  });

  it.each(forms)('stops at once and releases %s when the sink throws', async (_, given, whole) => {
    const failure = new Error('store is gone');
    const fail = () => {
      throw failure;
    };
    const sinkOptions: RecordingSinkOptions[] = [
      { onWrite: fail },
      { onWrite: () => Promise.reject(failure) },
      { onEnd: () => Promise.reject(failure) },
    ];
    for (const options of sinkOptions) {
      const { seen, body } = watched(cut(whole));
      await expect(
        decodeBody({ ...headers, ...given }, body, new RecordingSink(options), LIMITS),
      ).rejects.toBe(failure);
      expect(seen.closed).toBe(1);
      if (options.onWrite) expect(seen.taken).toBeLessThan(20);
    }
    const { body } = watched(cut(whole));
    await expect(decodeBody({ ...headers, ...given }, body, { open: fail }, LIMITS)).rejects.toBe(failure);
  });

  it.each(forms)('takes no chunk of %s while the sink makes it wait', async (_, given, whole) => {
    const { seen, body } = watched(cut(whole));
    let waiting = 0;
    const onWrite = async () => {
      waiting++;
      expect(waiting).toBe(1);
      const before = seen.taken;
      await new Promise(setImmediate);
      expect(seen.taken).toBe(before);
      waiting--;
    };
    await decodeBody({ ...headers, ...given }, body, new RecordingSink({ onWrite }), LIMITS);
    expect(seen).toEqual({ taken: 40, closed: 1 });
  });

  it('gives other work a turn within a large chunk', async () => {
    let turns = 0;
    const tick = () => {
      turns++;
      handle = setImmediate(tick);
    };
    let handle = setImmediate(tick);
    const body = Buffer.concat([Buffer.from('['), Buffer.alloc(4 * 1024 * 1024, ' '), Buffer.from(']')]);
    await decode({ contentType: 'application/json', body });
    clearImmediate(handle);
    expect(turns).toBeGreaterThanOrEqual(15);
  });
});
