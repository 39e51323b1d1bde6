import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const PAGE = join(import.meta.dirname, '../../../../src/operations/dashboard');
const styles = readdirSync(join(PAGE, 'styles')).map((file) =>
  readFileSync(join(PAGE, 'styles', file), 'utf8'),
);
const deliveries = readFileSync(join(PAGE, 'views/delivery-table.js'), 'utf8');
const failures = readFileSync(join(PAGE, 'views/failures/failures-view.js'), 'utf8');
const compact = ['failures/failures-view.js', 'refusals-view.js', 'replays-view.js', 'unsent-events.js']
  .map((file) => readFileSync(join(PAGE, 'views', file), 'utf8'))
  .join();

describe('the styles of tables', () => {
  it('find cells by the name of their column, never by its number', () => {
    expect(styles.flatMap((text) => text.match(/^.*:nth-.*$/gm) ?? [])).toEqual([]);
  });

  it('give each column of the deliveries its place on narrow screens', () => {
    const narrow = styles
      .flatMap((text) => text.split(/^@media /m))
      .filter((part) => /^\(max-width: 900px\)/.test(part));
    const columns = [...deliveries.matchAll(/\{ name: '([^']+)', cell/g)].map(([, name]) => name);
    expect(columns.length).toBeGreaterThan(5);
    const placed = (name?: string) =>
      narrow.some((part) => part.includes(`[data-key="deliveries"] td[data-label="${name}"]`));
    expect(columns.filter((name) => !placed(name))).toEqual([]);
  });

  it('name columns that are there', () => {
    const selectors = styles.flatMap((text) => text.split(/[{}]/));
    const named = selectors.flatMap((selector) =>
      [...selector.matchAll(/\[data-label="([^"]+)"\]/g)].map(([, name]) => ({
        name,
        isThere: selector.includes('.compact')
          ? compact.includes(`'${name}'`)
          : (deliveries + failures).includes(`name: '${name}'`),
      })),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(({ isThere }) => !isThere)).toEqual([]);
  });
});
