// Writes the generated part of docs/reasons.md from src/domain/reasons.ts: npm run docs:reasons
import { readFileSync, writeFileSync } from 'node:fs';
import { reasonsTable } from '../test/support/project/reasons-table.ts';

const file = new URL('../docs/reasons.md', import.meta.url);
const marker = '<!-- Everything below is generated from src/domain/reasons.ts: npm run docs:reasons -->\n';
const [prose] = readFileSync(file, 'utf8').split(marker);
writeFileSync(file, `${prose}${marker}${reasonsTable()}`);
