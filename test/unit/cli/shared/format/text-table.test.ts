import { expect, it } from '@jest/globals';
import { textTable } from '../../../../../src/cli/shared/format/text-table.js';

it('lists what it is given in columns of their own width, or as wide as the longest text', () => {
  const rows = textTable(
    [
      ['JOB', 5, ({ job }) => job],
      ['WHY', null, ({ why }) => why],
      ['N', 0, ({ n }) => String(n)],
    ],
    [
      { job: 'j1', why: 'late', n: 1 },
      { job: 'longer', why: '-', n: 20 },
    ],
  );
  expect(rows).toEqual(['JOB    WHY   N', 'j1     late  1', 'longer  -     20']);
});
