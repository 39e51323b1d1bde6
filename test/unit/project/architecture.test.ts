import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { withDrawing } from '../../support/project/architecture-page.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');

describe('docs/architecture.md', () => {
  it('draws the imports of src (npm run docs:architecture)', () => {
    expect(page).toBe(withDrawing(page));
  });

  it('keeps folders between 3 and 15 files, except those that it names', () => {
    const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
    const own = files.filter(
      (file) => /\.(ts|js|css|html|svg)$/.test(file) && !file.startsWith('operations/dashboard/vendor'),
    );
    const sizes = new Map<string, number>();
    for (const folder of own.map(dirname)) sizes.set(folder, (sizes.get(folder) ?? 0) + 1);
    sizes.delete('.');
    const odd = [...sizes].flatMap(([folder, files]) => (files < 3 || files > 15 ? [folder] : []));
    const [, named = ''] = /A folder holds 3 to 15 files, except ([^.]*)\./.exec(page) ?? [];
    expect(odd.sort()).toEqual([...named.matchAll(/`([^`]+)`/g)].map(([, folder]) => folder).sort());
  });

  it('names only files of src that exist', () => {
    const named = [...page.matchAll(/`src\/([^`\s]+)`/g)].map(([, path = '']) => path);
    const exists = new Set(readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !exists.has(path))).toEqual([]);
  });
});
