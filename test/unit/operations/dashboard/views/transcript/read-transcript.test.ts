import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { pageModule } from '../../../../../support/dashboard/page-module.js';

const { readJsonTranscript, readSrtTranscript, readTextTranscript } = pageModule(
  'views/transcript/read-transcript',
);

const word = (content: string, start: number, more: object = {}) => ({
  type: 'word',
  start_time: start,
  end_time: start + 0.4,
  alternatives: [{ content, confidence: 0.9, ...more }],
});
const stop = (start: number) => ({
  type: 'punctuation',
  is_eos: true,
  attaches_to: 'previous',
  start_time: start,
  end_time: start,
  alternatives: [{ content: '.', confidence: 1 }],
});
const transcript = (results: unknown[], metadata: object = {}) =>
  JSON.stringify({ format: '2.9', metadata, results });
const textOf = ({ words }: { words: { before: string; text: string }[] }) =>
  words.map(({ before, text }) => before + text).join('');

describe('a json-v2 transcript', () => {
  it('becomes a turn per speaker, with marks on their words', () => {
    const results = [
      word('Hello', 0.5, { speaker: 'S1' }),
      stop(0.9),
      word('Hi', 2, { speaker: 'S2' }),
      word('there', 2.5, { speaker: 'S2' }),
    ];
    const { turns } = readJsonTranscript(transcript(results));
    expect(turns.map(textOf)).toEqual(['Hello.', 'Hi there']);
    expect(turns.map(({ speaker, start }: Record<string, unknown>) => [speaker, start])).toEqual([
      ['S1', 0.5],
      ['S2', 2],
    ]);
  });

  it('leaves out spaces where the language has none, and marks words that are uncertain', () => {
    const { turns } = readJsonTranscript(
      transcript([word('今日', 0), word('は', 1, { confidence: 0.2 })], {
        language_pack_info: { word_delimiter: '' },
      }),
    );
    expect(textOf(turns[0])).toBe('今日は');
    expect(turns[0].words.map(({ sure }: { sure: boolean }) => sure)).toEqual([true, false]);
  });

  it('breaks long speech into paragraphs at the ends of sentences', () => {
    const speech = Array.from({ length: 200 }, (_, index) =>
      index % 10 === 9 ? stop(index) : word(`w${index}`, index),
    );
    const { turns } = readJsonTranscript(transcript(speech));
    expect(turns.length).toBeGreaterThan(2);
    expect(turns.slice(0, -1).every((turn: never) => textOf(turn).endsWith('.'))).toBe(true);
  });

  it('tolerates anything that parses', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), (results, metadata) => {
        const read = readJsonTranscript(JSON.stringify({ results, metadata }));
        for (const turn of read.turns) for (const { text } of turn.words) expect(typeof text).toBe('string');
      }),
    );
    expect(readJsonTranscript('{"results":3}')).toBeNull();
    expect(readJsonTranscript('{')).toBeNull();
    expect(readJsonTranscript('null')).toBeNull();
  });
});

describe('other transcripts', () => {
  it('reads SubRip with its times', () => {
    const { turns } = readSrtTranscript(
      '1\r\n00:01:02,500 --> 00:01:04,000\r\nHello\r\nthere\r\n\r\n2\r\n01:00:00.000 --> 01:00:01.000\r\nBye\r\n',
    );
    expect(turns.map(textOf)).toEqual(['Hello\nthere', 'Bye\n']);
    expect(turns.map(({ start }: { start: number }) => start)).toEqual([62.5, 3600]);
    expect(readSrtTranscript('no cues')).toBeNull();
  });

  it('reads plain text by paragraph', () => {
    expect(readTextTranscript('a b\n\nc').turns.map(textOf)).toEqual(['a b', 'c']);
  });
});
