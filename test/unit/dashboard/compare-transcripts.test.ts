import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pageModule } from '../../support/dashboard/page-module.js';

const { wordDiff } = await pageModule('word-diff');
const { compareTranscripts } = await pageModule('compare-transcripts');
const { readJsonTranscript, readTextTranscript } = await pageModule('transcript');

interface Run {
  readonly kind: 'same' | 'first' | 'second';
  readonly first: number;
  readonly second: number;
  readonly length: number;
}
const side = (runs: readonly Run[], which: 'first' | 'second', words: readonly string[]) =>
  runs
    .filter(({ kind }) => kind === 'same' || kind === which)
    .flatMap((run) => words.slice(run[which], run[which] + run.length));

/** Length of the longest common subsequence, by the textbook. */
function common(a: readonly string[], b: readonly string[]): number {
  let row = Array<number>(b.length + 1).fill(0);
  for (const word of a) {
    const next = [0];
    for (let at = 0; at < b.length; at += 1)
      next.push(word === b[at] ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
    row = next;
  }
  return row.at(-1) ?? 0;
}

const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 24 });

describe('differences between words', () => {
  it('give both texts back, and are as few as can be', () => {
    fc.assert(
      fc.property(words, words, (a, b) => {
        const runs: Run[] = wordDiff(a, b, 1000);
        expect(side(runs, 'first', a)).toEqual(a);
        expect(side(runs, 'second', b)).toEqual(b);
        const same = runs.filter(({ kind }) => kind === 'same');
        for (const run of same)
          expect(a.slice(run.first, run.first + run.length)).toEqual(
            b.slice(run.second, run.second + run.length),
          );
        expect(same.reduce((sum, { length }) => sum + length, 0)).toBe(common(a, b));
      }),
    );
  });

  it('are given up when there are more than were asked for', () => {
    expect(wordDiff(['a', 'b'], ['c', 'd'], 3)).toBeNull();
    expect(wordDiff(['a', 'b'], ['c', 'd'], 4)).not.toBeNull();
  });
});

const text = (content: string) => readTextTranscript(content);
const plain = (parts: { text: string }[]) => parts.map((part) => part.text).join('');
const changed = (parts: { changed: boolean; text: string }[]) =>
  parts.filter((part) => part.changed).map((part) => part.text.trim());
const LONG = Array.from({ length: 500 }, (_, index) => `w${index}`);

describe('two versions of a transcript', () => {
  it('are shown where they differ, with the words around it', () => {
    const other = LONG.with(100, 'other').with(400, 'more').join(' ');
    const { places, equalAfter } = compareTranscripts(text(LONG.join(' ')), text(other));
    expect(places).toHaveLength(2);
    expect(changed(places[0].first)).toEqual(['w100']);
    expect(changed(places[0].second)).toEqual(['other']);
    expect(plain(places[0].second).trim()).toMatch(/^w88 .* w99 other w101 .* w112$/);
    expect([places[0].equalBefore, places[1].equalBefore, equalAfter]).toEqual([88, 275, 87]);
  });

  it('that differ at an end, or one of which is empty, are shown whole', () => {
    const end = compareTranscripts(text('a b'), text('a b c'));
    expect(changed(end.places[0].second)).toEqual(['c']);
    const start = compareTranscripts(text('x a b'), text('a b'));
    expect(changed(start.places[0].first)).toEqual(['x']);
    expect(changed(compareTranscripts(text(''), text('a b')).places[0].second)).toEqual(['a b']);
  });

  it('tell when a word is another speaker’s, and when only times differ', () => {
    const said = (speaker: string, start: number) =>
      readJsonTranscript(
        JSON.stringify({
          results: [{ type: 'word', start_time: start, alternatives: [{ content: 'Hi', speaker }] }],
        }),
      );
    expect(changed(compareTranscripts(said('S1', 0), said('S2', 0)).places[0].second)).toEqual([
      'Speaker S2:',
    ]);
    expect(compareTranscripts(said('S1', 0), said('S1', 7)).note).toMatch(
      /^Both versions have the same words/,
    );
  });

  it('in a script without spaces are compared sign by sign', () => {
    const { places } = compareTranscripts(text('今日は良い天気'), text('今日は悪い天気'));
    expect(changed(places[0].first)).toEqual(['良']);
  });

  it('are not compared beyond a bound, which is said', () => {
    const all = (prefix: string) => text(Array.from({ length: 3000 }, (_, at) => `${prefix}${at}`).join(' '));
    expect(compareTranscripts(all('a'), all('b')).note).toMatch(/differ in more than 2,000 words/);
    const huge = text('a '.repeat(100_001));
    expect(compareTranscripts(huge, huge).note).toMatch(/more than 100,000 words/);
  });
});
