import { createHmac, randomBytes } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { hmacSha256 } from '../../../../../src/store/s3/wire/hmac-sha256.js';

it.each([0, 1, 32, 64])(
  'is the HMAC of Node for a key of %d bytes, for texts of any length in turn',
  (length) => {
    const key = randomBytes(length);
    const hmac = hmacSha256(key);
    for (const text of ['', 'short', 'x'.repeat(64), 'y'.repeat(300), 'short', 'other']) {
      expect(hmac(text)).toBe(createHmac('sha256', key).update(text).digest('hex'));
    }
  },
);

it('rejects a key that is longer than a block', () => {
  expect(() => hmacSha256(Buffer.alloc(65))).toThrow(RangeError);
});
