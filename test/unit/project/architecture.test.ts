import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { withDrawing } from '../../support/project/architecture-page.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');

describe('docs/architecture.md', () => {
  it('draws the imports of src (npm run docs:architecture)', () => {
    expect(page).toBe(withDrawing(page));
  });

  it('names only files of src that exist', () => {
    const named = [...page.matchAll(/`src\/([^`\s]+)`/g)].map(([, path = '']) => path);
    const exists = new Set(readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }));
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((path) => !exists.has(path))).toEqual([]);
  });
});
