import { expect, it } from '@jest/globals';
import { conformanceList, conformanceRules } from '../../support/project/conformance-list.js';

it('every rule of the specification has a test', () => {
  // The number of rules found in the specification: a rule whose last test goes would lower it.
  expect(conformanceRules()).toHaveLength(228);
});

it('the list that npm run conformance prints has every rule', () => {
  const list = conformanceList();
  expect(conformanceRules().filter(({ text }) => !list.includes(text))).toEqual([]);
});
