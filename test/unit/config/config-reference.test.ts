import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { configReference } from '../../../src/config/config-reference.js';
import { variableNames } from '../../../src/config/variables.js';

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

describe('docs/configuration.md', () => {
  const mapping: unknown = parse(read('config/custom-environment-variables.yaml'));

  it('is what the schema says (npm run build && npm run docs:config)', () => {
    const [, generated] = read('docs/configuration.md').split('npm run docs:config -->\n');
    expect(generated).toBe(`${configReference(variableNames(mapping))}\n`);
  });

  it('describes every setting', () => {
    expect(configReference(variableNames(mapping))).not.toMatch(/undefined/);
  });

  it('names the variable of every mapped setting, but for those of names only the operator gives', () => {
    const reference = configReference(variableNames(mapping));
    const unnamed = [...variableNames(mapping).values()].filter((name) => !reference.includes(`\`${name}\``));
    expect(unnamed.sort()).toEqual(['TR_ADMIN_TOKEN', 'TR_ALLOW', 'TR_CREDENTIAL']);
    for (const name of unnamed) expect(read('docs/configuration.md')).toContain(`\`${name}\``);
  });
});
