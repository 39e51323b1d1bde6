import { describe, expect, it } from '@jest/globals';
import {
  assertHeaders,
  assertKey,
  assertPrefix,
  compareKeys,
  isKey,
  isListed,
  sortKeys,
} from '../../../src/store/object-key.js';

describe('a key', () => {
  it.each([
    ['', /^create.*refused key "": it is empty/],
    ['.meta/x', /this name is reserved for the store itself/],
    ['.TMP', /reserved/],
    ['.transcript-receiver.1', /reserved/],
    ['a\nb', /"a\\nb": it holds a control character, a backslash or broken Unicode/],
    ['a\\b', /a backslash/],
    ['\ud800', /broken Unicode/],
    [`${'a/'.repeat(448)}b`, /it is longer than 896 bytes/],
    ['a//b', /it has an empty segment/],
    ['/a', /it has an empty segment/],
    ['a/../b', /it has a dot segment/],
    ['./a', /it has a dot segment/],
    [`a/${'é'.repeat(128)}`, /a segment is longer than 255 bytes/],
  ])('is refused with the reason: %j', (key, reason) => {
    expect(() => assertKey('create', key)).toThrow(reason);
    expect(isKey(key)).toBe(false);
  });

  it.each([
    'a',
    '.canary/x',
    '.metadata',
    'a/.meta',
    'x'.repeat(255),
    `${'a/'.repeat(447)}bc`,
    '...',
    'ü 😀',
  ])('is accepted: %j', (key) => {
    assertKey('create', key);
    expect(isKey(key)).toBe(true);
  });
});

describe('a prefix', () => {
  it.each(['', 'a', 'a/', 'a/b/'])('may be empty, a folder, or the beginning of a name: %j', (prefix) => {
    assertPrefix('list', prefix);
  });

  it.each([
    ['/', 'it is empty'],
    ['a//', 'it has an empty segment'],
    ['../', 'it has a dot segment'],
    ['a/../', 'it has a dot segment'],
    ['.meta/', 'this name is reserved for the store itself'],
    ['.tmp', 'this name is reserved for the store itself'],
  ])('is refused with the reason: %j', (prefix, reason) => {
    expect(() => assertPrefix('list', prefix)).toThrow(`refused prefix ${JSON.stringify(prefix)}: ${reason}`);
  });

  it('hides what begins with a dot unless it begins with one', () => {
    expect(['a', '.probe/a', 'b/.c', 'a/'].map((key) => isListed(key, ''))).toEqual([
      true,
      false,
      true,
      false,
    ]);
    expect(isListed('.probe/a', '.probe/')).toBe(true);
    expect(isListed('jobs/.writable', 'jobs/')).toBe(false);
  });
});

it('keys are ordered by their UTF-8 bytes, as S3 lists them', () => {
  const keys = ['a', 'a-b', 'a/b', 'a0', '\uffff', '😀'];
  expect([...keys].reverse().sort(compareKeys)).toEqual(keys);
  expect([...keys].sort()).not.toEqual(keys);
  expect(sortKeys([...keys].reverse())).toEqual(keys);
  expect(sortKeys(keys.slice(0, 4).reverse())).toEqual(keys.slice(0, 4));
});

describe('headers', () => {
  const headers = (metadata: Record<string, string>, contentType = 'text/plain') => ({
    contentType,
    metadata,
  });

  it.each([
    [headers({}, ''), 'refused content type'],
    [headers({}, 'x'.repeat(256)), 'refused content type'],
    [headers({}, ' text/plain'), 'refused content type'],
    [headers({ Upper: 'x' }), 'refused metadata name "Upper"'],
    [headers({ 'a b': 'x' }), 'refused metadata name "a b"'],
    [headers({ name: 'ü' }), 'refused metadata name: its value is not printable ASCII'],
    [headers({ name: ' x' }), 'its value is not printable ASCII'],
    [headers({ name: 'a ' }), 'its value is not printable ASCII'],
    [headers({ name: 'a\r\nb: c' }), 'its value is not printable ASCII'],
    [headers({ n: 'x'.repeat(2048) }), 'refused metadata: 2049 bytes, 2048 at most'],
  ])('that some store would change are refused with the reason: %j', (refused, reason) => {
    expect(() => assertHeaders('create', refused)).toThrow(reason);
  });

  it.each([
    headers({}, 'x'.repeat(255)),
    headers({ n: 'x'.repeat(2047) }),
    headers({ empty: '', one: 'x', 'with-blank': 'a b' }),
  ])('that every store keeps are accepted: %#', (accepted) => {
    assertHeaders('create', accepted);
  });
});
