import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

/** `docs/realtime-conformance.md` names a test for each rule; this test keeps the table current. */
const root = join(import.meta.dirname, '../../../..');
const table = readFileSync(join(root, 'docs/realtime-conformance.md'), 'utf8');

const rows = table
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Message'))
  .map((line) => {
    const [rule = '', tests = ''] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    const named = tests.split('<br>').map((test) => {
      const at = test.indexOf(': ');
      return { file: test.slice(0, at), name: test.slice(at + 2) };
    });
    return { rule, named, tokens: [...rule.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '') };
  });

const source = (file: string): string => readFileSync(join(root, 'test', `${file}.test.ts`), 'utf8');

describe('the conformance table', () => {
  it('has a row for everything the document names', () => {
    expect(rows.length).toBeGreaterThan(100);
  });

  it.each(rows)('names tests that exist: $rule', ({ named, tokens }) => {
    for (const { file, name } of named) {
      const text = source(file);
      const quoted = ["'", '"', '`'].some((quote) => text.includes(`${quote}${name}${quote}`));
      expect({ file, name, quoted }).toEqual({ file, name, quoted: true });
    }
    const sources = named.map(({ file }) => source(file)).join('\n');
    expect(tokens.filter((token) => !sources.includes(token))).toEqual([]);
  });
});
