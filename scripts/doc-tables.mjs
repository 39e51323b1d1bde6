// Writes the tables that documents show of src/domain: npm run docs:tables
import { readFileSync, writeFileSync } from 'node:fs';
import { DOCUMENT_TABLES, withTable } from '../test/support/project/document-tables.ts';

for (const { document, name, table } of DOCUMENT_TABLES) {
  const file = new URL(`../${document}`, import.meta.url);
  writeFileSync(file, withTable(readFileSync(file, 'utf8'), name, table()));
}
