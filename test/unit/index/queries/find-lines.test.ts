import { describe, expect, it } from '@jest/globals';
import { LINE_FILTER_NAMES } from '../../../../src/domain/line-filters.js';
import { matches } from '../../../../src/index/queries/find-lines.js';

const LINE = {
  id: 1,
  origin: 'callback',
  outcome: 'stored',
  source: 'intake',
  region: 'eu1',
  status: 'success',
  credential: 'main',
  reason: null,
  actor: 'anna',
  event: null,
} as const;

describe('a filter of Deliveries', () => {
  it.each(LINE_FILTER_NAMES)('%s tells lines apart by their field of this name', (name) => {
    expect(matches(LINE, { [name]: LINE[name] })).toBe(true);
    expect(matches(LINE, { [name]: 'other' })).toBe(false);
  });
});
