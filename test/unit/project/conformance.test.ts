import { describe, expect, it } from '@jest/globals';
import { conformanceRows, testExists, testSource } from '../../support/project/conformance-tables.js';

/** Pages that name a test for each rule; these tests keep them current. */
const PAGES = [
  { page: 'docs/realtime-conformance.md', testColumns: 1, least: 110 },
  { page: 'docs/service-conformance.md', testColumns: 2, least: 70 },
  { page: 'docs/simulator.md', testColumns: 1, least: 10 },
  { page: 'docs/decisions/interface-gaps.md', testColumns: 1, least: 30 },
];

describe.each(PAGES)('$page', ({ page, testColumns, least }) => {
  const rows = conformanceRows(page, testColumns);

  it('has a row for every rule', () => {
    expect(rows.length).toBeGreaterThanOrEqual(least);
  });

  it.each(rows)('names tests that exist: $rule', ({ cells, reasons, tokens }) => {
    expect(cells.filter((tests) => tests.length === 0)).toHaveLength(reasons.length);
    const named = cells.flat();
    expect(named.filter((test) => !testExists(test))).toEqual([]);
    const sources = named.map(({ file }) => testSource(file)).join('\n');
    expect(tokens.filter((token) => !sources.includes(token))).toEqual([]);
  });
});
