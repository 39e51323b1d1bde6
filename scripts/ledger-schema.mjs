// Writes the JSON Schema of a ledger line to docs/ledger.schema.json: npm run docs:ledger
import { writeFileSync } from 'node:fs';
import { ledgerJsonSchema } from '../test/support/ledger/ledger-json-schema.ts';

const file = new URL('../docs/ledger.schema.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(ledgerJsonSchema(), null, 2)}\n`);
