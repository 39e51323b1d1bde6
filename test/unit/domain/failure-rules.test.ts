import { describe, expect, it } from '@jest/globals';
import { openFailure } from '../../../src/domain/failure-rules.js';

const at = (second: number) => `2026-03-04T05:06:0${second}.000Z`;
const failed = { outcome: 'failed', receivedAt: at(2) };
const refused = { outcome: 'refused', receivedAt: at(2) };
const refusedBefore = { outcome: 'refused', receivedAt: at(1) };

describe('the line that makes a job fail', () => {
  it.each([
    ['failed', [failed, refused, refusedBefore], failed],
    ['refused', [refused, failed, refusedBefore], refused],
    ['failed, behind an older refusal', [refusedBefore, failed, refused], failed],
  ])('is the first one of those that were received at the same time: %s', (_, lines, expected) => {
    expect(openFailure(lines, () => true)).toBe(expected);
  });
});
