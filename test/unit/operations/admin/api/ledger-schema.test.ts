import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { LEDGER_OUTCOMES } from '../../../../../src/domain/delivery.js';
import { ORIGINS } from '../../../../../src/domain/item.js';
import {
  ledgerJsonSchema,
  SHIPPED_SCHEMA,
  schemaFaults,
} from '../../../../support/ledger/ledger-json-schema.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';

const read = (path: string) => readFileSync(new URL(`../../../../../${path}`, import.meta.url), 'utf8');

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** Paths of the fields that nothing describes, such as `items[].key`. */
function undescribed(schema: Schema, prefix = ''): string[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(described(field) ? [] : [`${prefix}${name}`]),
    ...undescribed(field, `${prefix}${name}.`),
  ]);
  const inner = [...(schema.items ? [schema.items] : []), ...(schema.anyOf ?? [])];
  return [...own, ...inner.flatMap((each) => undescribed(resolved(each), prefix))];
}

const described = (field: Schema): boolean =>
  [field, ...(field.anyOf ?? [])].some((each) => Boolean(resolved(each).description));

const resolved = (schema: Schema): Schema =>
  (SHIPPED_SCHEMA as Schema).$defs?.[schema.$ref?.replace('#/$defs/', '') ?? ''] ?? schema;

describe('docs/ledger.schema.json', () => {
  it('is what the admin API describes a ledger line with: npm run docs:ledger', () => {
    expect(SHIPPED_SCHEMA).toEqual(ledgerJsonSchema());
  });

  it('is a valid schema', () => {
    expect(new Ajv2020().validateSchema(SHIPPED_SCHEMA)).toBe(true);
  });

  it('is in the package', () => {
    expect(JSON.parse(read('package.json')).files).toContain('docs/ledger.schema.json');
  });

  it('describes every field', () => {
    expect(undescribed(SHIPPED_SCHEMA as Schema)).toEqual([]);
  });

  it.each(ORIGINS.flatMap((origin) => LEDGER_OUTCOMES.map((outcome) => ({ origin, outcome }))))(
    'accepts lines of %j',
    (fields) => {
      expect(schemaFaults(ledgerLine(fields))).toEqual([]);
    },
  );

  it('accepts further fields anywhere, and outcomes that it does not name', () => {
    const item = {
      kind: 'data',
      key: 'jobs/a/data',
      size: 1,
      sha256: 'a',
      outcome: 'created',
      colour: 'blue',
    };
    const shape = { contentType: null, framing: 'none', colour: 'blue' };
    const line = { ...ledgerLine(), outcome: 'postponed', items: [item], shape, colour: 'blue' };
    expect(schemaFaults(line)).toEqual([]);
  });

  it.each([
    ['another version', { v: 2 }],
    ['a time without milliseconds', { receivedAt: '2026-03-04T05:06:07Z' }],
    ['no job', { jobId: undefined }],
    ['items that are no list', { items: null }],
  ])('rejects %s', (_, fields) => {
    const line = JSON.parse(JSON.stringify({ ...ledgerLine(), ...fields }));
    expect(schemaFaults(line)).not.toEqual([]);
  });
});
