import { describe, expect, it } from '@jest/globals';
import type { ItemKind } from '../../../src/domain/kinds.js';
import { settlesBodies, wantedOf, wantsMetBy } from '../../../src/domain/quarantined-body.js';

function isBrought(kinds: readonly ItemKind[], contents: readonly string[], status = 'success'): boolean {
  const brought = kinds.flatMap(wantsMetBy);
  return wantedOf(status, contents).every((each) => brought.includes(each));
}

describe('what a quarantined body should have brought', () => {
  it.each<readonly [boolean, string, readonly ItemKind[], readonly string[]]>([
    [false, 'nothing', [], ['transcript']],
    [true, 'any form of a transcript', ['transcript.srt'], ['transcript']],
    [false, 'something else', ['jobinfo', 'attachment'], ['transcript']],
    [true, 'what is named', ['data'], ['data']],
    [false, 'not all that is named', ['data'], ['data', ' Transcript']],
    [
      true,
      'all that is named, in the old spelling too',
      ['data', 'transcript.srt'],
      ['data', 'transcript:srt'],
    ],
    [false, 'another form than is named', ['transcript.json-v2'], ['transcript.txt']],
    [true, 'anything, for names that say nothing', ['jobinfo'], ['constructor']],
    [true, 'anything, without names', ['attachment'], []],
    [false, 'nothing, without names', [], []],
  ])('is brought: %s, by %s', (expected, _, kinds, contents) => {
    expect(isBrought(kinds, contents)).toBe(expected);
  });

  it('is anything at all of a job that failed', () => {
    expect(isBrought(['jobinfo'], ['transcript'], 'error')).toBe(true);
  });
});

it.each([
  ['acknowledged', 'replay', 'acknowledged'],
  ['imported', 'import', 'stored'],
  [null, 'import', 'conflict'],
  ['refetched', 'recovery', 'recovered'],
  ['refetched', 'replay', 'duplicate'],
  [null, 'callback', 'stored'],
  [null, 'recovery', 'failed'],
])('says %s of a line with origin %s and outcome %s', (expected, origin, outcome) => {
  expect(settlesBodies({ origin, outcome })).toBe(expected);
});
