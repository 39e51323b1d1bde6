import { brotliCompressSync, deflateSync, gunzipSync, gzipSync } from 'node:zlib';
import {
  BodyTooLargeError,
  EncodingRefusedError,
  UndecodableError,
} from '../../src/archive/content/decode-error.js';
import { decodeBody } from '../../src/receive/decode/decode-body.js';
import {
  BOUNDARY,
  chunksOf,
  formBody,
  formType,
  naiveParts,
  type PartSpec,
} from '../support/http/multipart.js';
import type { Random } from '../support/random.js';
import { RecordingSink } from '../support/store/recording-sink.js';
import { chunkSizes, mutate } from './mutate.js';
import type { FuzzCase, FuzzTarget } from './target.js';

/** What came of a body: its items, or the word for why not. */
type Decoded = { readonly items: readonly Buffer[] } | { readonly refused: string };

async function decode(
  body: Buffer,
  sizes: readonly number[],
  type: string,
  encoding: string | null,
): Promise<Decoded> {
  const sink = new RecordingSink({ identifyAfter: 64 });
  const headers = { contentType: type, contentEncoding: encoding, contentLength: null, contents: [] };
  try {
    await decodeBody(headers, chunksOf(body, ...sizes), sink, { maxBytes: 100_000 });
  } catch (error) {
    if (error instanceof UndecodableError) return { refused: error.reason };
    if (error instanceof BodyTooLargeError) return { refused: 'too-large' };
    if (error instanceof EncodingRefusedError) return { refused: 'encoding-refused' };
    throw error;
  }
  if (sink.items.some(({ ended }) => !ended)) throw new Error('an item was never ended');
  return { items: sink.items.map(({ bytes }) => bytes) };
}

/** The same whatever the chunks: otherwise what a sender gets would hang on the network. */
async function decodeTwice(one: FuzzCase, type: string, encoding: string | null): Promise<Decoded | string> {
  const whole = await decode(one.bytes, [], type, encoding);
  const pieces = await decode(one.bytes, one.details.sizes as readonly number[], type, encoding);
  const same =
    'items' in whole
      ? 'items' in pieces &&
        whole.items.length === pieces.items.length &&
        whole.items.every((item, index) => item.equals(pieces.items[index] ?? Buffer.alloc(0)))
      : 'refused' in pieces && isSameRefusal(whole.refused, pieces.refused);
  return same ? whole : `chunks matter: ${summary(whole)} whole, ${summary(pieces)} in pieces`;
}

/** What is both corrupt and too large is refused for whichever shows first; either way nothing is taken. */
function isSameRefusal(one: string, other: string): boolean {
  const either = ['too-large', 'encoding-corrupt'];
  return one === other || (either.includes(one) && either.includes(other));
}

function summary(decoded: Decoded): string {
  return 'items' in decoded ? `${decoded.items.length} items` : decoded.refused;
}

const FORM_TOKENS = [
  ...['\r\n', '\n', '\r', '--', ' ', '\t', '\0', ':', ';', '"', '\\', '\r\n\r\n', `--${BOUNDARY}`],
  ...[
    `\r\n--${BOUNDARY}\r\n`,
    `\r\n--${BOUNDARY}--`,
    `\r\n--${BOUNDARY}--\n`,
    `\r\n--${BOUNDARY}x`,
    `\r\n--${BOUNDARY} \r\n`,
  ],
  ...['Content-Disposition: attachment', 'Content-Disposition: form-data; name="x"', "filename*=utf-8''%zz"],
  ...[
    'Content-Transfer-Encoding: base64\r\n',
    'Content-Type: multipart/mixed; boundary=y\r\n',
    '\u00e9\u00ff',
  ],
] as unknown as readonly [string, ...string[]];

function partSpec(random: Random): PartSpec {
  return {
    ...(random.chance(0.9)
      ? { name: random.pick(['data', 'transcript.txt', 'transcript.srt', 'x', 'a"b']) }
      : {}),
    ...(random.chance(0.5) ? { fileName: random.pick(['a.wav', '', '../x', 'ü.txt']) } : {}),
    ...(random.chance(0.5)
      ? { type: random.pick(['application/octet-stream', 'text/plain', 'application/json', 'x']) }
      : {}),
    body: random.chance(0.3)
      ? random.bytes(random.whole(0, 300))
      : mutate(random, Buffer.from('some content\r\n'), FORM_TOKENS),
  };
}

/** A form against a second reading of the whole body at once: what is accepted is exactly what it says. */
export const multipartTarget: FuzzTarget = {
  name: 'multipart',
  make(random) {
    const parts = Array.from({ length: random.whole(0, 4) }, () => partSpec(random));
    const preamble = random.chance(0.1) ? { preamble: random.pick(['preamble', ' \r\n']) } : {};
    const body = formBody(parts, {
      ...preamble,
      epilogue: random.pick(['\r\n', '', '\r\n\t\r\n', '\r\nmore\r\n']),
    });
    return { bytes: mutate(random, body, FORM_TOKENS), details: { sizes: chunkSizes(random) } };
  },
  async judge(one) {
    const decoded = await decodeTwice(one, formType(), null);
    if (typeof decoded === 'string') return decoded;
    const second = naiveParts(one.bytes);
    if (one.bytes.length === 0 || 'refused' in decoded) return null;
    if (second === null) return `accepted with ${decoded.items.length} items what is no form`;
    if (second.length !== decoded.items.length)
      return `${decoded.items.length} items of ${second.length} parts`;
    const differing = second.findIndex(
      ({ content }, index) => !content.equals(decoded.items[index] ?? Buffer.alloc(0)),
    );
    return differing === -1 ? null : `part ${differing} differs`;
  },
};

const JSON_TOKENS = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\u',
    '\\ud800',
    'null',
    '"\\u00fg"',
    '"\\u12',
    'true',
    'e',
    '-',
    '0',
    '.',
    '1e999',
    '\t',
    '\n',
  ],
  ...[
    ' ',
    '\u00ef\u00bb\u00bf',
    '\u00ff',
    '\u00c3\u00a9',
    '\u00c3',
    '\u00ed\u00a0\u0080',
    '"__proto__":',
    '\u0000',
    '\u2028',
  ],
] as unknown as readonly [string, ...string[]];

function jsonText(random: Random, depth = 0): string {
  const kind = random.whole(0, depth > 3 ? 3 : 5);
  if (kind === 0) return random.pick(['null', 'true', 'false']);
  if (kind === 1) return String(random.pick([0, -1, 1.5, 1e21, -1e-7, random.next()]));
  if (kind <= 3) return JSON.stringify(random.pick(['', 'word', 'ü', '\u{1f600}', 'a"b\\c\n', '\ud800']));
  const inner = Array.from({ length: random.whole(0, 4) }, () => jsonText(random, depth + 1));
  const space = random.pick(['', ' ', '\n']);
  if (kind === 4) return `[${inner.join(`,${space}`)}]`;
  return `{${inner.map((value, index) => `"k${index}":${space}${value}`).join(',')}}`;
}

/** A lone JSON body is accepted if and only if JSON.parse takes it. */
export const jsonTarget: FuzzTarget = {
  name: 'json',
  make(random) {
    const body = mutate(random, Buffer.from(jsonText(random)), JSON_TOKENS);
    return { bytes: body, details: { sizes: chunkSizes(random) } };
  },
  async judge(one) {
    const decoded = await decodeTwice(one, 'application/json', null);
    if (typeof decoded === 'string') return decoded;
    if (one.bytes.length === 0)
      return 'items' in decoded && decoded.items.length === 0 ? null : 'no body is no item';
    const isRight = parses(one.bytes);
    if (isRight === null) return null;
    if ('refused' in decoded) return isRight ? `refused as ${decoded.refused} what parses` : null;
    if (!isRight) return 'accepted what does not parse';
    return decoded.items[0]?.equals(one.bytes) ? null : 'other bytes came out';
  },
};

/** Null where the two may differ: bytes that are no UTF-8 become U+FFFD in a string, and parse. */
function parses(bytes: Buffer): boolean | null {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
  // RFC 8259 lets parsers ignore a byte order mark; both ways are right.
  if (text.startsWith('\ufeff')) return null;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const PACKERS: Readonly<Record<string, (plain: Buffer) => Buffer>> = {
  gzip: (plain) => gzipSync(plain),
  deflate: (plain) => deflateSync(plain),
  br: (plain) => brotliCompressSync(plain),
  'gzip, gzip': (plain) => gzipSync(gzipSync(plain)),
};

/** Compressed bodies: what zlib makes of the whole, or a refusal; never something in between. */
export const encodingTarget: FuzzTarget = {
  name: 'encoding',
  make(random) {
    const plain = Buffer.from('text '.repeat(random.whole(0, 2_000)) + random.next());
    const encoding = random.pick(['gzip', 'deflate', 'br', 'gzip, gzip']);
    const pack = PACKERS[encoding] ?? gzipSync;
    return {
      bytes: mutate(random, pack(plain), ['\0', '\u001f\u008b', 'x']),
      details: { sizes: chunkSizes(random), encoding },
    };
  },
  async judge(one) {
    const encoding = String(one.details.encoding);
    const decoded = await decodeTwice(one, 'text/plain', encoding);
    if (typeof decoded === 'string') return decoded;
    if (encoding.includes(',') && one.bytes.length > 0)
      return 'refused' in decoded ? null : 'accepted two encodings';
    if ('refused' in decoded || encoding !== 'gzip' || one.bytes.length === 0) return null;
    const expected = unpacked(one.bytes);
    if (expected === null) return 'accepted what zlib refuses';
    const item = decoded.items[0] ?? Buffer.alloc(0);
    return item.equals(expected) ? null : `${item.length} bytes came out of ${expected.length}`;
  },
};

function unpacked(bytes: Buffer): Buffer | null {
  try {
    return gunzipSync(bytes);
  } catch {
    return null;
  }
}
