import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { DOCUMENT_TABLES, withTable } from '../../support/project/document-tables.js';

const ROOT = join(import.meta.dirname, '../../..');

describe('tables of src in the documents', () => {
  it.each(DOCUMENT_TABLES)('$document shows $module (npm run docs:tables)', ({ document, module, table }) => {
    const page = readFileSync(join(ROOT, document), 'utf8');
    expect(page).toBe(withTable(page, module, table()));
  });
});
