import { crc32 } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { combineCrc32 } from '../../../../../src/store/s3/wire/combine-crc32.js';

describe('the CRC-32 of two byte strings in a row', () => {
  it('is that of all their bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    fc.assert(
      fc.property(bytes, bytes, (first, second) => {
        const whole = crc32(Buffer.concat([first, second]));
        expect(combineCrc32(crc32(first), crc32(second), second.length)).toBe(whole);
      }),
    );
  });

  it('is right for parts of several MiB', () => {
    const first = Buffer.alloc(1_000_003, 'a');
    const second = Buffer.alloc(5 * 1024 * 1024 + 1, 'b');
    const whole = crc32(second, crc32(first));
    expect(combineCrc32(crc32(first), crc32(second), second.length)).toBe(whole);
  });
});
