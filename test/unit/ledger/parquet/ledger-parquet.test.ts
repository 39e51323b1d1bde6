import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { encodeLedgerFile, writeLedgerFile } from '../../../../src/ledger/parquet/ledger-parquet.js';
import { sortLines } from '../../../../src/ledger/parquet/sort-lines.js';
import { parseLine } from '../../../../src/ledger/parse-segment.js';
import { linesOf } from '../../../support/ledger/compacted-ledger.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const KEY = 'ledger-parquet/dt=2026-03-04/hour=05/0001.parquet';

const sortable = (text: string) => {
  const line = parseLine(text);
  if (line === null) throw new Error(`not a line: ${text}`);
  return {
    writtenAt: Date.parse(line.receivedAt),
    deliveryId: line.deliveryId,
    outcome: line.outcome,
    text,
  };
};

async function writeAndRead(texts: readonly string[]): Promise<LedgerLine[]> {
  const store = createMemoryStore();
  const lines = sortLines(texts.map(sortable));
  const parquet = await writeLedgerFile(store, KEY, lines);
  return linesOf(store, parquet);
}

const bytesOf = async (texts: readonly string[]) =>
  (await encodeLedgerFile(sortLines(texts.map(sortable)))).content;

const minute = (number: number, overrides: Partial<LedgerLine> = {}) =>
  ledgerLine({
    receivedAt: new Date(Date.parse('2026-03-04T05:00:00Z') + number * 60_000).toISOString(),
    ...overrides,
  });
const json = (value: unknown) => JSON.stringify(value);

/** A line as this product writes it. */
const COMPLETE = ledgerLine({
  deliveryId: '01KJX3VZ8Q4M7T9B0C2D5E6F7G',
  items: [
    {
      kind: 'transcript.json-v2',
      key: 'jobs/a/transcript.json',
      size: 10,
      sha256: 'ab'.repeat(32),
      outcome: 'created',
    },
    { kind: 'jobinfo', key: 'jobs/a/jobinfo.json', size: 0, sha256: 'cd'.repeat(32), outcome: 'identical' },
  ],
  shape: {
    contentType: 'multipart/form-data',
    framing: 'chunked',
    parts: [{ name: null, contentType: 'text/plain', bytes: 5 }],
  },
  actor: 'admin',
  wouldRefuse: 'region',
  context: { call: '123', constructor: '%00' },
  contextOmitted: { customer: 'malformed' },
});

describe('a ledger file', () => {
  it('offers other callbacks a turn for each line and each row group', async () => {
    const lines = sortLines(Array.from({ length: 100 }, (_, index) => sortable(json(minute(index)))));
    let offered = 0;
    const pause = () => {
      offered += 1;
      return undefined;
    };
    await encodeLedgerFile(lines, undefined, pause);

    expect(offered).toBe(100 + 1);
  });

  it('gives back its lines by time of writing, delivery id and outcome', async () => {
    const lines = [
      minute(3),
      minute(1, { deliveryId: 'B', outcome: 'stored' }),
      minute(1, { deliveryId: 'B', outcome: 'refused' }),
      minute(1, { deliveryId: 'A' }),
    ];

    expect(await writeAndRead(lines.map(json))).toEqual([lines[3], lines[2], lines[1], lines[0]]);
  });

  it('holds equal lines once, and lines that differ in any field each', async () => {
    const line = minute(1, { deliveryId: 'A', reason: null });
    const other = { ...line, reason: 'x' };

    expect(await writeAndRead([line, other, line].map(json))).toEqual([other, line]);
  });

  it('is the same whatever the order of the lines was', async () => {
    const texts = [1, 2, 2, 3, 40].map((number) => json(minute(number)));

    expect(await bytesOf(texts)).toEqual(await bytesOf(texts.toReversed()));
  });

  it('of no lines has no row groups', async () => {
    expect(await writeAndRead([])).toEqual([]);
  });

  it.each<[string, string]>([
    ['every field', json(COMPLETE)],
    ['unknown fields', json({ ...COMPLETE, next: { deep: [1, null, 'x'] }, flag: true, 7: 'seven' })],
    ['an unknown field named __proto__', json(COMPLETE).replace('{', '{"__proto__":{"a":1},')],
    [
      'items with fields of a newer version',
      json({ ...COMPLETE, items: [{ ...COMPLETE.items[0], more: 1 }] }),
    ],
    ['items without a field', json({ ...COMPLETE, items: [{ kind: 'data' }] })],
    ['items that are no list', json({ ...COMPLETE, items: 'none' })],
    [
      'missing fields',
      json({ v: 1, deliveryId: 'A', receivedAt: COMPLETE.receivedAt, origin: 'x', outcome: 'y' }),
    ],
    [
      'fields of other types',
      json({ ...COMPLETE, source: 5, jobId: [], bytes: 1.5, durationMs: '3', actor: null }),
    ],
    ['negative and large numbers', json({ ...COMPLETE, bytes: -(2 ** 53) + 1, durationMs: 1e300 })],
    ['a number of bytes beyond 2^53', json(COMPLETE).replace('"bytes":1234', '"bytes":9007199254740993')],
    [
      'a duration that JavaScript reads as infinite',
      json(COMPLETE).replace('"durationMs":12', '"durationMs":1e999'),
    ],
    [
      'numbers in unknown fields that JavaScript rounds',
      json(COMPLETE).replace('{', '{"n":9007199254740993,'),
    ],
    ['a negative zero', json(COMPLETE).replace('"durationMs":12', '"durationMs":-0')],
    ['a key twice', json(COMPLETE).replace('{', '{"region":"us1",')],
    ['spaces', json(COMPLETE).replaceAll(',"', ' , "')],
    ['lone surrogates', json({ ...COMPLETE, status: '\ud800', jobId: 'a\udc00' })],
    [
      'a byte order mark and zero bytes',
      json({ ...COMPLETE, status: '\ufeffa\u0000', reason: '\u2028😀\uffff' }),
    ],
    ['empty texts', json({ ...COMPLETE, status: '', reason: '', jobId: '', region: '' })],
    ['a day that does not exist', json({ ...COMPLETE, receivedAt: '2026-02-30T05:00:00.000Z' })],
    ['an hour 24', json({ ...COMPLETE, receivedAt: '2026-03-04T24:00:00.000Z' })],
    ['a context of another form', json({ ...COMPLETE, context: [1, null], contextOmitted: null })],
    ['a context with a name __proto__', json(COMPLETE).replace('"call":', '"__proto__":')],
    ['a shape of another form', json({ ...COMPLETE, shape: 'x' })],
    ['a large value', json({ ...COMPLETE, reason: 'x'.repeat(3_000_000) })],
  ])('keeps %s', async (_, text) => {
    expect(await writeAndRead([text])).toStrictEqual([parseLine(text)]);
  });

  it('keeps any line', async () => {
    const texts = fc.option(fc.string({ unit: 'binary' }));
    const item = fc.record({
      kind: fc.string(),
      key: fc.string({ unit: 'binary' }),
      size: fc.maxSafeNat(),
      sha256: fc.string(),
      outcome: fc.string(),
    });
    const known = fc.record({
      v: fc.constant(1),
      deliveryId: fc.string(),
      receivedAt: fc
        .date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true })
        .map((date) => date.toISOString()),
      origin: fc.constantFrom('callback', 'recovery'),
      source: texts,
      region: texts,
      clientIp: texts,
      method: texts,
      jobId: texts,
      status: texts,
      credential: texts,
      outcome: fc.string({ unit: 'binary' }),
      reason: texts,
      items: fc.array(item, { maxLength: 3 }),
      bytes: fc.maxSafeInteger(),
      durationMs: fc.double({ noNaN: true, noDefaultInfinity: true }),
      shape: fc.option(fc.jsonValue()),
    });
    const odd = fc.dictionary(
      fc.oneof(fc.constantFrom('actor', 'items', 'bytes', 'source', 'context', '__proto__'), fc.string()),
      fc.jsonValue(),
      { maxKeys: 2 },
    );
    const line = fc
      .tuple(known, fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: odd }))
      .map(([fields, more]) =>
        JSON.stringify(Object.fromEntries([...Object.entries(fields), ...Object.entries(more)])),
      )
      .filter((text) => parseLine(text) !== null);

    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 40 }), async (all) => {
        const expected = sortLines(all.map(sortable)).map(({ text }) => parseLine(text));
        expect(await writeAndRead(all)).toStrictEqual(expected);
      }),
      { numRuns: 15 },
    );
  });
});
