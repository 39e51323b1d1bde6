import { describe, expect, it } from '@jest/globals';
import type { RetrievableKind } from '../../../../../src/domain/kinds.js';
import { contentCheck, foreignType } from '../../../../../src/recovery/reconcile/fetch/content-check.js';

const SRT = '1\n00:00:01,000 --> 00:00:02,000\nHello.\n';
const LONG_PAGE = `<html>${'<p>Maintenance</p>'.repeat(100)}</html>`;

const CASES: readonly [
  kind: RetrievableKind,
  name: string,
  content: string | Buffer,
  reason: string | null,
][] = [
  [
    'transcript.json-v2',
    'a transcript of this job',
    '{"format":"2.9","job":{"id":"job1"},"results":[]}',
    null,
  ],
  ['transcript.json-v2', 'a transcript that names no job', '{"format":"2.9","results":[]}', null],
  [
    'transcript.json-v2',
    "another job's transcript",
    '{"format":"2.9","job":{"id":"job2"},"results":[]}',
    'is the transcript of another job',
  ],
  ['transcript.json-v2', 'an error', '{"code":429}', 'is JSON, but not a transcript'],
  ['transcript.json-v2', 'the beginning of a transcript', '{"format":"2.9","results":[]', 'is not JSON'],
  ['jobinfo', 'the record of this job', '{"job":{"id":"job1"}}', null],
  ['jobinfo', 'a document that names no job', '{}', 'is JSON, but not the record of this job'],
  ['jobinfo', "another job's record", '{"job":{"id":"job2"}}', 'is JSON, but not the record of this job'],

  ['transcript.txt', 'text', 'Grüße, Zoë — 你好 🎧', null],
  ['transcript.txt', 'nothing', '', null],
  ['transcript.txt', 'text in another encoding', Buffer.from('Grüße', 'latin1'), 'is not text'],
  ['transcript.txt', 'text that ends within a character', Buffer.from('Zoë').subarray(0, -1), 'is not text'],
  ['transcript.txt', 'text with a zero byte', 'a\0b', 'is not text'],
  ['transcript.txt', 'a page shorter than the bytes that are looked at', '<html></html>', 'is a web page'],
  ['transcript.txt', 'a page longer than the bytes that are looked at', LONG_PAGE, 'is a web page'],
  ['transcript.txt', 'a JSON object behind a byte order mark', '\ufeff {"code":404}', 'is a JSON document'],
  ['transcript.txt', 'text that is a JSON number', '42', null],
  ['transcript.txt', 'text that begins with a brace', '{laughs} Hello.', null],
  ['transcript.txt', 'text that ends with a JSON object', 'é {"code":404}', null],
  ['transcript.txt', 'text about pages', `Type <html>. ${LONG_PAGE}`, null],

  ['transcript.srt', 'subtitles', SRT, null],
  ['transcript.srt', 'no subtitles at all', '', null],
  ['transcript.srt', 'only line ends', '\r\n\n', null],
  ['transcript.srt', 'long text', 'Hello. '.repeat(200), 'does not begin like subtitles'],

  ['data', 'media', Buffer.from([0x1f, 0x8b, 0, 0xff]), null],
  ['data', 'a long page', LONG_PAGE, 'is a web page'],
];

/** The reason that a check gives for a download that arrives in chunks of a size. */
function reasonFor(kind: RetrievableKind, content: Buffer, size: number): string | null {
  const check = contentCheck(kind, 'job1');
  for (let at = 0; at < content.length; at += size) {
    const reason = check.push(content.subarray(at, at + size));
    if (reason !== null) return reason;
  }
  return check.finish();
}

describe('the check of content', () => {
  it.each(CASES)('for %s: %s', (kind, _name, content, reason) => {
    const bytes = Buffer.from(content);
    for (const size of [1, 5, 511, 512, 4096]) expect(reasonFor(kind, bytes, size)).toBe(reason);
  });

  it('rejects a page and text that is none before all of it has arrived', () => {
    expect(contentCheck('data', 'job1').push(Buffer.from(LONG_PAGE))).toBe('is a web page');
    expect(contentCheck('transcript.srt', 'job1').push(Buffer.from(`${SRT}\0`))).toBe('is not text');
    expect(contentCheck('jobinfo', 'job1').push(Buffer.from(LONG_PAGE))).toBe('is not JSON');
  });
});

describe('the content type', () => {
  it.each([
    ['transcript.json-v2', ['application/vnd.speech.v2+json', 'Text/Plain ; charset=utf-8', 'text/json']],
    ['jobinfo', ['application/json', 'text/plain']],
    ['transcript.txt', ['text/plain;charset=utf-8']],
    ['transcript.srt', ['text/plain', 'text/srt', 'text/x-srt', 'application/x-subrip', 'application/srt']],
    ['data', ['audio/wav', 'text/plain']],
  ] as const)('of %s fits', (kind, types) => {
    const generic = [null, '', 'application/octet-stream', 'binary/octet-stream'];
    for (const type of [...types, ...generic]) expect(foreignType(kind, type)).toBeNull();
  });

  it.each([
    ['transcript.json-v2', ['text/html', 'text/plainer', 'application/jsonp']],
    ['jobinfo', ['text/html']],
    ['transcript.txt', ['text/html', 'application/json', 'image/png']],
    ['transcript.srt', ['application/json', 'image/png', 'my-text/srt']],
    ['data', ['text/html; charset=utf-8', 'application/xhtml+xml', 'application/problem+json']],
  ] as const)('of %s is foreign', (kind, types) => {
    for (const type of types)
      expect(foreignType(kind, type)).toBe(`has the unexpected content type ${type.split(';')[0]}`);
  });
});
