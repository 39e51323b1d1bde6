import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { PROBLEM_CODES, Problem } from '../../../src/domain/problem.js';

/** Rows of tables, items of lists and paragraphs. */
const statements = ['docs/answers.md', 'docs/admin-api.md'].flatMap((file) =>
  readFileSync(file, 'utf8').split(/\n(?=[|\n-])/),
);

describe('docs/answers.md and docs/admin-api.md', () => {
  it.each(PROBLEM_CODES)('say when %s is answered, and its status', (code) => {
    const described = statements.filter((each) => each.includes(`\`${code}\``));
    expect(described).toContainEqual(expect.stringMatching(`\\b${new Problem(code, '').status}\\b`));
  });
});
