// Writes the generated part of docs/configuration.md from the schema: npm run docs:config
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { variableNames } from '../src/config/load/variables.ts';
import { configReference } from '../test/support/project/config-reference.ts';

const file = new URL('../docs/configuration.md', import.meta.url);
const mapping = parse(
  readFileSync(new URL('../config/custom-environment-variables.yaml', import.meta.url), 'utf8'),
);
const marker = '<!-- Everything below is generated from the schema: npm run docs:config -->\n';
const [prose] = readFileSync(file, 'utf8').split(marker);
writeFileSync(file, `${prose}${marker}${configReference(variableNames(mapping))}\n`);
