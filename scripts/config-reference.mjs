// Writes the generated part of docs/configuration.md from the schema. Run after `npm run build`: npm run docs:config
import { readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { configReference } from '../dist/config/config-reference.js';
import { variableNames } from '../dist/config/load/variables.js';

const file = new URL('../docs/configuration.md', import.meta.url);
const mapping = parse(
  readFileSync(new URL('../config/custom-environment-variables.yaml', import.meta.url), 'utf8'),
);
const marker = '<!-- Everything below is generated from the schema: npm run docs:config -->\n';
const [prose] = readFileSync(file, 'utf8').split(marker);
writeFileSync(file, `${prose}${marker}${configReference(variableNames(mapping))}\n`);
