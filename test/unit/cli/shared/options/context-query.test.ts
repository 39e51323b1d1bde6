import { describe, expect, it } from '@jest/globals';
import { contextQuery } from '../../../../../src/cli/shared/options/context-query.js';
import { readContext } from '../../../../../src/domain/context.js';

const ADMITTED = ['call', 'Case_1.a', 'constructor'];

describe('--context', () => {
  it('gives a query from which the receiver reads the same values', () => {
    const odd = `+%&=#?/"'\\;,~`;
    const query = contextQuery('intake', ADMITTED, [`call=${odd}`, 'Case_1.a=1=2', 'constructor=x']);
    const url = new URL(`https://h.example/callbacks/intake${query}&id=a&status=success`);
    expect(readContext(url.searchParams, ADMITTED)).toEqual({
      context: { call: odd, 'Case_1.a': '1=2', constructor: 'x' },
      contextOmitted: null,
    });
    expect(contextQuery('intake', ADMITTED)).toBe('');
  });

  it.each([
    ['call', /takes <name>=<value>/],
    ['=1', /takes <name>=<value>/],
    ['cal=1', /does not admit cal: set sources\.intake\.context to \[call, Case_1\.a, constructor, cal\]/],
    ['__proto__=1', /does not admit __proto__/],
    ['call=a b', /1 to 128 printable/],
  ])('rejects %j', (pair, message) => {
    expect(() => contextQuery('intake', ADMITTED, [pair])).toThrow(message);
  });

  it('rejects a name that is given twice', () => {
    expect(() => contextQuery('intake', ADMITTED, ['call=1', 'call=2'])).toThrow(/call twice/);
  });
});
