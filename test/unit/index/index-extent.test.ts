import { describe, expect, it } from '@jest/globals';
import { hasAllSince, notIndexedInWords } from '../../../src/index/index-extent.js';

const SINCE = '2026-03-01T00:00:00.000Z';
const UNTIL = '2026-03-04T12:00:00.000Z';
const INDEX = { since: SINCE, until: UNTIL, missing: [] };
const segment = (n: number) => ({ key: `ledger/${n}`, segments: 1, unreadable: null });
const at = (time: string, ms = 0) => Date.parse(time) + ms;

describe('what the index lacks of a question', () => {
  it('is nothing where it has all that is asked for, also while new lines are on their way into it', () => {
    expect(notIndexedInWords(INDEX, { since: at(SINCE), until: at(UNTIL, 120_000) })).toBeNull();
    expect(notIndexedInWords({ ...INDEX, since: null }, {})).toBeNull();
    expect(hasAllSince(INDEX, at(SINCE))).toBe(true);
  });

  it('is what was written before it begins and after it ends, as far as it is asked for', () => {
    expect(notIndexedInWords(INDEX, { since: at(SINCE, -1) })).toBe(
      `Not in the index of the ledger: lines written before ${SINCE}.`,
    );
    expect(notIndexedInWords(INDEX, { since: at(SINCE), until: at(UNTIL, 120_001) })).toBe(
      `Not in the index of the ledger: lines written after ${UNTIL}.`,
    );
    expect(notIndexedInWords(INDEX, {}, () => 'then')).toMatch(/ before then\.$/);
    expect(hasAllSince(INDEX, at(SINCE, -1))).toBe(false);
  });

  it('is everything before it was built', () => {
    const index = { since: null, until: null, missing: [] };
    expect(notIndexedInWords(index, { since: at(UNTIL) })).toMatch(/not built yet/);
    expect(hasAllSince(index, at(UNTIL))).toBe(false);
  });

  it('are segments that cannot be read, of which the first are named', () => {
    const missing = [
      { key: 'ledger/a', segments: 3, unreadable: null },
      { key: 'ledger/b', segments: 1, unreadable: 2 },
    ];
    const index = { ...INDEX, missing };
    expect(notIndexedInWords(index, { since: at(SINCE) })).toBe(
      'Not in the index of the ledger: ledger/a and 2 more, which are missing or cannot be read; lines of ledger/b that cannot be read (2).',
    );
    expect(hasAllSince(index, at(UNTIL))).toBe(false);
    const many = { ...INDEX, missing: [1, 2, 3, 4].map(segment) };
    expect(notIndexedInWords(many, { since: at(SINCE) })).toMatch(
      /: ledger\/1, .*; ledger\/3, which is missing or cannot be read; other segments that cannot be read\.$/,
    );
  });
});
