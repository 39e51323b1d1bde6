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

  it('says what each folder of src holds', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
    const folders = new Set(sources.filter((file) => /\.(ts|js|css)$/.test(file)).map(dirname));
    folders.delete('.');
    // The build copies packages to vendor.
    const own = [...folders].filter((folder) => !folder.startsWith('operations/dashboard/vendor'));
    expect(own.filter((folder) => !page.includes(`\`${folder}\``))).toEqual([]);
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

  it('names only files and folders of src that exist', () => {
    const named = [...page.matchAll(/`src\/([^`\s]+)`/g)].map(([, path = '']) => path);
    const rows = [...page.matchAll(/^\| `.*$/gm)].flat().join('\n');
    const folders = [...rows.matchAll(/`([a-z0-9/-]+)`/g)]
      .map(([, path = '']) => path)
      .filter((path) => !path.startsWith('transcript-receiver/'));
    const exists = new Set(readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }));
    expect(folders.length).toBeGreaterThan(40);
    expect([...named, ...folders].filter((path) => !exists.has(path))).toEqual([]);
  });
});
