import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { unnamedTypes } from '../../support/project/unnamed-types.js';

const ROOT = join(import.meta.dirname, '../../..');
const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  exports: Record<string, { types: string } | string>;
};
const entries = Object.entries(exports).flatMap(([name, target]) =>
  typeof target === 'string' ? [] : [{ name, types: join(ROOT, target.types) }],
);

describe('the entries of the package', () => {
  it('are found', () => expect(entries.length).toBeGreaterThanOrEqual(3));

  it.each(entries)('$name exports by name every type that its declarations use', ({ types }) => {
    expect(unnamedTypes(types)).toEqual([]);
  });
});
