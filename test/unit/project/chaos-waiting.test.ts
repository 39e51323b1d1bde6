import { describe, expect, it } from '@jest/globals';
import { largeTranscript, letGo } from '../../chaos/callbacks.js';
import { waitForLess } from '../../chaos/wait-for-less.js';
import { createRandom } from '../../support/random.js';

/* What the chaos run waits for, and when it ends the wait. */

/** Looks at these amounts one after the other, the last one for ever. */
function looksAt(...amounts: number[]) {
  let looks = 0;
  const look = async () => {
    const amount = amounts[Math.min(looks, amounts.length - 1)] ?? 0;
    looks += 1;
    return { left: amount === 0 ? [] : ['one'], amount };
  };
  return { look, looks: () => looks };
}

const falling = (from: number, each: number) =>
  Array.from({ length: from * each }, (_, index) => from - Math.floor(index / each));

describe('the wait of the chaos run', () => {
  it('lasts as long as what is left becomes less, however slowly', async () => {
    const { look, looks } = looksAt(...falling(30, 40), 0);
    expect(await waitForLess(look, 0)).toEqual([]);
    expect(looks()).toBe(30 * 40 + 1);
  });

  it.each([
    ['stays', [5, 3]],
    ['only rises and falls again', Array.from({ length: 500 }, (_, index) => 3 + (index % 2))],
    ['cannot be told', [Number.POSITIVE_INFINITY]],
  ])('ends with what is left when that %s', async (_what, amounts) => {
    const { look, looks } = looksAt(...amounts);
    expect(await waitForLess(look, 0)).toEqual(['one']);
    expect(looks()).toBeLessThan(100);
  });
});

describe('a callback that nobody sends any more', () => {
  it('lets its bytes go, unless the checker compares them', () => {
    const callback = largeTranscript(createRandom(1, 'one'), 'one', 400);
    const malformed = { ...callback, malformed: true };
    for (const each of [callback, malformed]) letGo(each);
    expect([callback.body.length, malformed.body.length > 0]).toEqual([0, true]);
  });
});
