import { readFileSync } from 'node:fs';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { z } from 'zod';
import { ledgerLineSchema } from '../../../src/operations/answers/deliveries.js';

/** The JSON Schema of a ledger line, made from the schema with which the admin API describes its answers. */
export function ledgerJsonSchema(): Record<string, unknown> {
  const { $schema, $defs = {} } = z.toJSONSchema(ledgerLineSchema, {
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      // zod's own pattern also knows the lengths of months and is too long to read.
      if (jsonSchema.format === 'date-time')
        jsonSchema.pattern = '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$';
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  const { LedgerLine, ...named } = Object.fromEntries(
    Object.entries($defs).map(([name, { id: _id, ...schema }]) => [name, schema]),
  );
  return {
    $schema,
    $id: 'urn:transcript-receiver:ledger-line:1',
    title: 'Line of the ledger of Transcript Receiver, version 1',
    ...LedgerLine,
    description: 'docs/ledger.md describes what lines there are. Expect further fields.',
    $defs: named,
  };
}

/** The schema as it is shipped. */
export const SHIPPED_SCHEMA: Record<string, unknown> = JSON.parse(
  readFileSync(new URL('../../../docs/ledger.schema.json', import.meta.url), 'utf8'),
);

// Formats need a package of their own; every format of the schema has a pattern beside it.
let validate: ValidateFunction | undefined;

/** How a line differs from the shipped schema; empty when it does not. */
export function schemaFaults(line: unknown): readonly ErrorObject[] {
  // The check of the schema itself costs more than all lines of a test.
  validate ??= new Ajv2020({ strict: false, validateFormats: false, validateSchema: false }).compile(
    SHIPPED_SCHEMA,
  );
  return validate(line) ? [] : (validate.errors ?? []);
}
