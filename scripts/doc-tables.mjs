// Writes the tables that documents show of modules of src: npm run docs:tables
import { readFileSync, writeFileSync } from 'node:fs';
import { DOCUMENT_TABLES, withTable } from '../test/support/project/document-tables.ts';

for (const { document, module, table } of DOCUMENT_TABLES) {
  const file = new URL(`../${document}`, import.meta.url);
  writeFileSync(file, withTable(readFileSync(file, 'utf8'), module, table()));
}
