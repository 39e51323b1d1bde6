import { describe, expect, it } from '@jest/globals';
import { contentBytes, contentSha256 } from '../../../../src/simulator/content/content.js';
import { wavContent, wavSize } from '../../../../src/simulator/content/wav.js';

describe('generated media', () => {
  it.each([44, 45, 1_000, 65_536 + 44, 300_001])(
    'has exactly %d bytes and a header that says so',
    async (size) => {
      const bytes = await contentBytes(wavContent('a', size));
      expect(bytes).toHaveLength(size);
      expect(bytes.toString('latin1', 0, 4)).toBe('RIFF');
      const data = bytes.readUInt32LE(40);
      expect(data % 2).toBe(0);
      expect(size - 44 - data).toBeLessThanOrEqual(1);
      expect(bytes.readUInt32LE(4)).toBe(36 + data);
      expect(bytes.readUInt32LE(24)).toBe(8_000);
    },
  );

  it('is the same for the same seed and another for another', async () => {
    const hashes = await Promise.all(
      ['a', 'a', 'b'].map((seed) => contentSha256(wavContent(seed, wavSize(20)))),
    );
    expect(hashes[0]).toBe(hashes[1]);
    expect(hashes[0]).not.toBe(hashes[2]);
  });

  it('has distinct blocks, so that a lost one is detected', async () => {
    const bytes = await contentBytes(wavContent('a', 44 + 3 * 65_536));
    const second = bytes.subarray(44 + 65_536, 44 + 2 * 65_536);
    const third = bytes.subarray(44 + 2 * 65_536);
    expect(second.equals(third)).toBe(false);
  });
});
