// Writes the generated part of docs/conformance.md from the tests: npm run docs:conformance
import { readFileSync, writeFileSync } from 'node:fs';
import { conformanceList } from '../test/support/project/conformance-list.ts';

const file = new URL('../docs/conformance.md', import.meta.url);
const marker = '<!-- Everything below is generated from the tests: npm run docs:conformance -->\n';
const [prose] = readFileSync(file, 'utf8').split(marker);
writeFileSync(file, `${prose}${marker}${conformanceList()}`);
