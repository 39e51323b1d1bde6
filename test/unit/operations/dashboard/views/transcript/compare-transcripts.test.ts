import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pageModule } from '../../../../../support/dashboard/page-module.js';

const { compareTranscripts } = pageModule('views/transcript/compare-transcripts');
const { readJsonTranscript, readTextTranscript } = pageModule('views/transcript/read-transcript');

const text = (content: string) => readTextTranscript(content);
const plain = (parts: { text: string }[]) => parts.map((part) => part.text).join('');
const changed = (parts: { changed: boolean; text: string }[]) =>
  parts.filter((part) => part.changed).map((part) => part.text.trim());
const LONG = Array.from({ length: 500 }, (_, index) => `w${index}`);

const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 });

describe('two versions of a transcript', () => {
  it('become the other one where each difference is put into its place', () => {
    fc.assert(
      fc.property(words, words, (one, other) => {
        fc.pre(one.join() !== other.join());
        const { places } = compareTranscripts(text(one.join(' ')), text(other.join(' ')));
        const count = (side: 'first' | 'second') =>
          places.flatMap((place: Record<typeof side, { changed: boolean; text: string }[]>) =>
            changed(place[side]).flatMap((each) => each.split(' ')),
          ).length;
        expect(one.length - count('first')).toBe(other.length - count('second'));
        for (const { first, second } of places) {
          expect(` ${one.join(' ')} `).toContain(` ${plain(first).trim()} `.replace(/ +/g, ' '));
          expect(` ${other.join(' ')} `).toContain(` ${plain(second).trim()} `.replace(/ +/g, ' '));
        }
      }),
    );
  });

  it('are shown where they differ, with the words around it', () => {
    const other = LONG.with(100, 'other').with(400, 'more').join(' ');
    const { places } = compareTranscripts(text(LONG.join(' ')), text(other));
    expect(places).toHaveLength(2);
    expect(changed(places[0].first)).toEqual(['w100']);
    expect(changed(places[0].second)).toEqual(['other']);
    expect(plain(places[0].second).trim()).toMatch(/^w88 .* w99 other w101 .* w112$/);
  });

  it('that differ at an end, or one of which is empty, are shown whole', () => {
    const end = compareTranscripts(text('a b'), text('a b c'));
    expect(changed(end.places[0].second)).toEqual(['c']);
    const start = compareTranscripts(text('x a b'), text('a b'));
    expect(changed(start.places[0].first)).toEqual(['x']);
    expect(changed(compareTranscripts(text(''), text('a b')).places[0].second)).toEqual(['a b']);
  });

  it('show when a word has another speaker, and when only times differ', () => {
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
