import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const PAGE = join(import.meta.dirname, '../../../../src/operations/dashboard');
const styles = readdirSync(join(PAGE, 'styles')).map((file) =>
  readFileSync(join(PAGE, 'styles', file), 'utf8'),
);
const views = readdirSync(join(PAGE, 'views'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.js'))
  .map((file) => readFileSync(join(PAGE, 'views', file), 'utf8'))
  .join();

describe('the styles of tables', () => {
  it('find cells by the name of their column, never by its number', () => {
    expect(styles.flatMap((text) => text.match(/^.*:nth-.*$/gm) ?? [])).toEqual([]);
  });

  it('name columns that are there', () => {
    const selectors = styles.flatMap((text) => text.split(/[{}]/));
    const named = selectors.flatMap((selector) =>
      [...selector.matchAll(/\[data-label="([^"]+)"\]/g)].map(([, name]) => name),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !views.includes(`name: '${name}'`))).toEqual([]);
  });
});
