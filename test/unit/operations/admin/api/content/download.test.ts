import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  contentDisposition,
  parseByteRange,
  safeContentType,
} from '../../../../../../src/operations/admin/api/content/download.js';
import { anyCharacter } from '../../../../../support/any-character.js';

describe('a range', () => {
  it.each<[string | undefined, number, ReturnType<typeof parseByteRange>]>([
    [undefined, 10, null],
    ['bytes=0-0', 10, { start: 0, end: 0 }],
    ['bytes=0-', 0, 'unsatisfiable'],
    ['bytes=-0', 10, 'unsatisfiable'],
    ['bytes=-5', 0, 'unsatisfiable'],
    ['bytes=10-', 10, 'unsatisfiable'],
    ['bytes=9-', 10, { start: 9, end: 9 }],
    ['bytes=0-99', 10, { start: 0, end: 9 }],
    ['bytes=-6', 10, { start: 4, end: 9 }],
    ['bytes=-99', 10, { start: 0, end: 9 }],
    ['lines=0-1', 10, null],
    ['bytes=-', 10, null],
    ['bytes=5-4', 10, null],
    ['bytes=0-1,2-3', 10, null],
    ['bytes= 0-1', 10, null],
    ['bytes=0x1-2', 10, null],
    [`bytes=${'9'.repeat(30)}-`, 10, null],
  ])('%s of %d bytes', (header, size, expected) => expect(parseByteRange(header, size)).toEqual(expected));
});

describe('a content type', () => {
  it.each([
    'text/html',
    'image/svg+xml',
    'application/xhtml+xml',
    'text/plain; charset=utf-7',
    'audio/',
    '',
    'text/xml',
    'audio/wav\r\nx: y',
    'application/pdf',
  ])('is not trusted: %j', (type) => expect(safeContentType(type)).toBe('application/octet-stream'));
  it.each([
    'application/json',
    'text/plain; charset=utf-8',
    'application/x-subrip; charset=utf-8',
    'audio/mpeg',
    'video/mp4',
    'audio/x-wav',
  ])('is kept: %s', (type) => expect(safeContentType(type)).toBe(type));
});

describe('a file name', () => {
  it('keeps its extension where it is too long', () => {
    expect(contentDisposition(`${'x'.repeat(300)}.docx`)).toContain(`''${'x'.repeat(195)}.docx`);
  });

  it('never leaves its header, and comes back whole', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, maxLength: 60 }), (name) => {
        const header = contentDisposition(name);
        expect(header).toMatch(
          /^attachment; filename="[^"\\\r\n]*"; filename\*=UTF-8''[A-Za-z0-9!#$&+.^_`|~%-]*$/,
        );
        expect(header).toMatch(/^[\x20-\x7e]*$/);
        expect(decodeURIComponent(header.split("UTF-8''")[1] ?? '')).toBe(name.toWellFormed());
      }),
    );
  });
});
