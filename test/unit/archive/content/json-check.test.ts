import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { JsonCheck, MAX_JSON_DEPTH } from '../../../../src/archive/content/json-check.js';

function check(text: string | Buffer, size = Number.POSITIVE_INFINITY) {
  const json = new JsonCheck();
  const bytes = Buffer.from(text as string);
  for (let at = 0; at < bytes.length; at += size) json.push(bytes.subarray(at, at + size));
  const valid = json.finish();
  return { valid, transcript: json.looksLikeTranscript };
}

/** JSON.parse of the decoded text is the truth; a byte order mark is taken off before. */
function oracle(bytes: Buffer) {
  try {
    const value = JSON.parse(new TextDecoder().decode(bytes));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return {
      valid: true,
      transcript: isObject && typeof value.format === 'string' && Array.isArray(value.results),
    };
  } catch {
    return { valid: false };
  }
}

/** Tokens of which every text of so many is tried. */
const TEXTS: readonly [what: string, tokens: readonly string[], most: number][] = [
  ['brackets, commas and colons', ['{', '}', '[', ']', ',', ':', '"a"', '"a":', '1'], 5],
  ['parts of numbers', ['-', '+', '0', '1', '.', 'e', 'E', ' '], 5],
  ['parts of strings', ['"', '\\', '\\u00F', 'e', 'g', 'n', 'x', '\n', '\ud800'], 4],
  ['parts of strings in brackets', ['[["', 'a', '\n', '\\', '"', ']]'], 5],
  [
    'words and spaces',
    ['true', 'tree', 'fals', 'e', 'nul', 'l', 'N', ' \t\r\n', '\ufeff', '\u000b', '\u0000', '1'],
    4,
  ],
];

function* textsOf(tokens: readonly string[], most: number): Generator<string> {
  yield '';
  if (most > 0) for (const text of textsOf(tokens, most - 1)) for (const token of tokens) yield text + token;
}

describe('JsonCheck', () => {
  it.each(TEXTS)('agrees with JSON.parse on every text of a few %s', (_, tokens, most) => {
    const wrong = [...textsOf(tokens, most)].filter((text) => {
      const { valid } = oracle(Buffer.from(text));
      return check(text).valid !== valid || check(text, 1).valid !== valid;
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ['{"format":"2.9","results":[]}', true],
    ['{"results":[1],"x":{"format":1},"format":"2.9"}', true],
    ['{"f\\u006frmat":"2.9","\\u0072\\u0065\\u0073\\u0075\\u006c\\u0074\\u0073":[]}', true],
    ['{"format":2.9,"results":[]}', false],
    ['{"format":"2.9","results":{}}', false],
    ['{"format":"2.9","results":[],"format":1}', false],
    ['{"format":1,"format":"2.9","results":[]}', true],
    ['[{"format":"2.9","results":[]}]', false],
    ['{"job":{"format":"2.9","results":[]}}', false],
    ['{"formats":"2.9","results":[]}', false],
    ['{"x":"format","results":[]}', false],
    ['{}', false],
  ])('sees the shape of %s', (text, transcript) => {
    expect(check(text)).toEqual({ valid: true, transcript });
    expect(check(text, 1)).toEqual({ valid: true, transcript });
    expect(check(text, 3)).toEqual({ valid: true, transcript });
  });

  it('sees what there is so far of a text that goes on', () => {
    const json = new JsonCheck();
    json.push(Buffer.from('{"job":{},"results":['));
    expect([json.mayBeTranscript, json.looksLikeTranscript]).toEqual([true, false]);
  });

  it('nests to its limit without recursion and refuses more', () => {
    const nested = (depth: number) => Buffer.from(`${'['.repeat(depth)}${']'.repeat(depth)}`);
    expect(check(nested(MAX_JSON_DEPTH)).valid).toBe(true);
    expect(check(nested(MAX_JSON_DEPTH + 1)).valid).toBe(false);
  });

  it('agrees with JSON.parse on generated documents in any chunks', () => {
    const key = fc.constantFrom('format', 'results', 'a', '__proto__', 'formatresults', '\u00e9"\\');
    const document = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 5 }, fc.jsonValue(), fc.string(), tie('object'), fc.array(tie('value'))),
      object: fc.array(fc.tuple(key, tie('value'))).map((pairs) => new Pairs(pairs)),
    })).value;
    fc.assert(
      fc.property(
        document,
        fc.constantFrom(undefined, 1, '\t'),
        fc.integer({ min: 1, max: 9 }),
        (value, space, size) => {
          const bytes = Buffer.from(write(value, typeof space === 'string' ? space : ''));
          expect(check(bytes, size)).toEqual(oracle(bytes));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('agrees with JSON.parse on any bytes within a string', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), fc.integer({ min: 1, max: 5 }), (inner, size) => {
        const bytes = Buffer.concat([Buffer.from('["'), inner, Buffer.from('"]')]);
        expect(check(bytes, size)).toMatchObject(oracle(bytes));
      }),
      { numRuns: 700 },
    );
  });
});

/** An object with its members in order and repeated, as a text can have it. */
class Pairs {
  readonly pairs: readonly (readonly [string, unknown])[];
  constructor(pairs: readonly (readonly [string, unknown])[]) {
    this.pairs = pairs;
  }
}

function write(value: unknown, space: string): string {
  if (value instanceof Pairs) {
    const members = value.pairs.map(
      ([key, member]) => `${JSON.stringify(key)}${space}:${write(member, space)}`,
    );
    return `{${space}${members.join(',')}}`;
  }
  if (Array.isArray(value)) return `[${value.map((element) => write(element, space)).join(`,${space}`)}]`;
  return JSON.stringify(value);
}
