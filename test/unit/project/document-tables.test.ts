import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { DOCUMENT_TABLES, withTable } from '../../support/project/document-tables.js';

const ROOT = join(import.meta.dirname, '../../..');

describe('tables of src/domain in the documents', () => {
  it.each(DOCUMENT_TABLES)('$document shows the $name (npm run docs:tables)', ({ document, name, table }) => {
    const page = readFileSync(join(ROOT, document), 'utf8');
    expect(page).toBe(withTable(page, name, table()));
  });
});
