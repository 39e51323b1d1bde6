import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { conformanceList, conformanceRules } from '../../support/project/conformance-list.js';

const page = readFileSync(fileURLToPath(new URL('../../../docs/conformance.md', import.meta.url)), 'utf8');

it('docs/conformance.md lists the rules that the tests name (npm run docs:conformance)', () => {
  expect(page.endsWith(conformanceList())).toBe(true);
});

it('every rule of the specification has a test', () => {
  // The number of rules found in the specification: a rule whose last test goes would lower it.
  expect(conformanceRules()).toHaveLength(228);
});
