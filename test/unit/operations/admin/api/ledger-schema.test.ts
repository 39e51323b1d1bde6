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
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** Paths of all fields, such as `items[].key`. */
function fieldsOf(schema: Schema, prefix = ''): string[] {
  const { $defs = {} } = SHIPPED_SCHEMA as Schema;
  const resolved = schema.$ref === undefined ? schema : ($defs[schema.$ref.replace('#/$defs/', '')] ?? {});
  const own = Object.entries(resolved.properties ?? {}).flatMap(([name, inner]) => [
    `${prefix}${name}`,
    ...fieldsOf(inner, `${prefix}${name}.`),
  ]);
  const inList = resolved.items ? fieldsOf(resolved.items, prefix.replace(/\.$/, '[].')) : [];
  return [...own, ...inList, ...(resolved.anyOf ?? []).flatMap((one) => fieldsOf(one, prefix))];
}

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

  it('has the fields that docs/ledger.md lists, and no other; those of an object are in its row', () => {
    const [, table = ''] = /\n## Fields\n([\s\S]*?)\n##/.exec(read('docs/ledger.md')) ?? [];
    const rows = new Map(
      [...table.matchAll(/^\| `([^`]+)` \|(.*)/gm)].map(([, name = '', row = '']) => [name, row]),
    );
    const fields = fieldsOf(SHIPPED_SCHEMA as Schema);
    expect([...rows.keys()]).toEqual(fields.filter((field) => !field.includes('.')));
    const missing = fields.filter((field) => {
      const [object = '', ...inner] = field.split(/(?:\[\])?\./);
      return inner.length > 0 && !rows.get(object)?.includes(`\`${inner.at(-1)}\``);
    });
    expect(missing).toEqual([]);
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
