import { describe, expect, it } from '@jest/globals';
import { summaryInWords } from '../../../src/index/summary-words.js';

describe('the figures of a time in words', () => {
  const figures = { lines: 1, bytes: 0, callbacks: 22, refused: 21, missed: 0, duration: null };
  const total = { ...figures, outcomes: {} };

  it.each([
    [3, '3 of them before'],
    [21, 'all of them before'],
  ])('%d requests without a valid credential: %s they had one', (unrecorded, words) => {
    expect(summaryInWords({ total, acts: null, unrecorded })).toContain(
      `21 callbacks (95 %) were not answered 2xx, ${words} they had a valid credential.`,
    );
  });

  it('do not say of all callbacks that they were answered 2xx where those without a credential could not be counted', () => {
    const well = { total: { ...total, refused: 0 }, acts: null };
    expect(summaryInWords({ ...well, unrecorded: 0 })).toContain('Every callback was answered 2xx.');
    expect(summaryInWords({ ...well, unrecorded: null })).toContain(
      'Every callback with a valid credential was answered 2xx.',
    );
  });
});
