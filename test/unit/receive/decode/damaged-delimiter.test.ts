import { describe, expect, it } from '@jest/globals';
import { DamagedDelimiterDetector } from '../../../../src/receive/decode/damaged-delimiter.js';

const DAMAGED = '\n--boundary\r\nContent-Disposition: form-data';
/** Longer than what the detector scans at once. */
const AROUND = 'x'.repeat(1000);

/** @param sizes of the chunks; the last one repeats */
function isFound(content: string, ...sizes: number[]): boolean {
  const detector = new DamagedDelimiterDetector('boundary');
  detector.begin();
  let found = false;
  for (let at = 0, n = 0; at < content.length; n += 1) {
    const size = sizes[Math.min(n, sizes.length - 1)] ?? content.length;
    found = detector.push(Buffer.from(content.slice(at, at + size))) || found;
    at += size;
  }
  return detector.end() || found;
}

const all = (count: number, found: (n: number) => boolean) =>
  Array.from({ length: count }, (_, n) => n).filter((n) => !found(n));

describe('a damaged delimiter inside a part', () => {
  it('is found at the beginning of the content', () => {
    expect(isFound(`${DAMAGED.slice(3)}${AROUND}`)).toBe(true);
  });

  it('is found wherever it lies in small chunks', () => {
    const contentOf = (before: number) => 'x'.repeat(before) + DAMAGED + AROUND;
    for (const size of [1, 10, 500])
      expect(all(600, (before) => isFound(contentOf(before), size))).toEqual([]);
  });

  it('is found wherever large chunks cut it', () => {
    const content = AROUND + DAMAGED + AROUND;
    const cuts = DAMAGED.length + 1;
    expect(all(cuts, (n) => isFound(content, AROUND.length + n, 2000))).toEqual([]);
    expect(all(cuts, (n) => isFound(content, AROUND.length + n, 1, 2000))).toEqual([]);
  });
});
