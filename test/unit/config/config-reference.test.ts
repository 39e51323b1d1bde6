import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { variableNames } from '../../../src/config/load/variables.js';
import { DOCUMENTED_REGIONS } from '../../../src/domain/region.js';
import { configReference } from '../../support/project/config-reference.js';
import { readSources } from '../../support/project/source-imports.js';

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');

describe('docs/configuration.md', () => {
  const mapping: unknown = parse(read('config/custom-environment-variables.yaml'));

  it('is what the schema says (npm run docs:config)', () => {
    const [, generated] = read('docs/configuration.md').split('npm run docs:config -->\n');
    expect(generated).toBe(`${configReference(variableNames(mapping))}\n`);
  });

  it('describes every setting', () => {
    expect(configReference(variableNames(mapping))).not.toMatch(/undefined/);
  });

  it.each(DOCUMENTED_REGIONS)('has the variable of the address of %s', (region) => {
    expect([...variableNames(mapping).values()]).toContain(`TR_SPEECH_${region.toUpperCase()}_URL`);
  });

  it('has no setting that nothing reads', () => {
    const names = [...configReference(new Map()).matchAll(/^\| `(\w+)/gm)].map(([, name = '']) => name);
    const readers = [...readSources()].filter(([file]) => !/^(config\/(?!rules)|simulator\/)/.test(file));
    const words = new Set(readers.flatMap(([, text]) => text.match(/\w+/g) ?? []));
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => !words.has(name))).toEqual([]);
  });

  it('names every variable beside the setting that it is mapped to', () => {
    const reference = configReference(variableNames(mapping));
    for (const name of variableNames(mapping).values()) expect(reference).toContain(`\`${name}\``);
  });
});
