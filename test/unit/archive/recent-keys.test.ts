import { describe, expect, it } from '@jest/globals';
import { createRecentKeys } from '../../../src/archive/commit-item.js';

describe('the recent keys', () => {
  it('have what was added, and little else', () => {
    const recent = createRecentKeys();
    for (let n = 0; n < 1000; n += 1) recent.add(`jobs/there${n}/transcript.json`);
    expect(recent.take('jobs/there999/transcript.json')).toBe(true);
    expect(recent.take('jobs/other/transcript.json')).toBe(false);
  });

  it('forget what was asked for', () => {
    const recent = createRecentKeys();
    recent.add('a');
    expect([recent.take('a'), recent.take('a')]).toEqual([true, false]);
  });

  it('forget the older of two keys in one slot', () => {
    const recent = createRecentKeys(1);
    recent.add('a');
    recent.add('b');
    expect([recent.take('a'), recent.take('b')]).toEqual([false, true]);
  });
});
