import { describe, expect, it } from '@jest/globals';
import { parseLine, parseSegment } from '../../../src/ledger/parse-segment.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';

const ndjson = (...lines: unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('');

function parse(content: string | Buffer) {
  const { entries, unreadable } = parseSegment(Buffer.from(content));
  return { lines: entries.map(({ line }) => line), unreadable };
}

describe('a segment', () => {
  const good = ledgerLine();

  it('gives the lines that can be read, and how many cannot', () => {
    const text = `${ndjson(good)}{"v":1,\n\n[]\nnull\n${ndjson({ ...good, receivedAt: 'yesterday' })}`;
    const { lines, unreadable } = parse(text + ndjson(good).slice(0, 40));
    expect(lines).toEqual([good]);
    expect(unreadable).toBe(5);
  });

  it('gives the lines beside one whose bytes are not UTF-8', () => {
    const [before = '', after = ''] = ndjson({ ...good, reason: 'Z|rich' }).split('|');
    const damaged = Buffer.concat([Buffer.from(before), Buffer.of(0xfc), Buffer.from(after)]);
    const content = Buffer.concat([Buffer.from(ndjson(good)), damaged, Buffer.from(ndjson(good))]);
    expect(parse(content)).toEqual({ lines: [good, good], unreadable: 1 });
  });

  it('says which of its bytes are a line, whatever is before it', () => {
    const other = ndjson({ ...good, reason: 'Zürich' });
    for (const broken of [Buffer.from('{\n'), Buffer.of(0xfc, 0x0a)]) {
      const content = Buffer.concat([Buffer.from(`${other}\n`), broken, Buffer.from(ndjson(good).trim())]);
      const lines = parseSegment(content).entries.map(({ start, length }) =>
        parseLine(content.subarray(start, start + length)),
      );
      expect(lines).toEqual([{ ...good, reason: 'Zürich' }, good]);
    }
  });

  it('without lines is damaged: it is never written so', () => {
    expect(parse('').unreadable).toBe(1);
  });

  it('does not read lines of another version: their fields may mean something else', () => {
    const text = ndjson({ ...good, v: 2 }, good, { ...good, v: '2' }, { v: 3 }, { ...good, v: 0 });
    expect(parse(text)).toEqual({ lines: [good], unreadable: 4 });
  });

  it('keeps unknown fields and fills missing ones', () => {
    const short = {
      v: 1,
      deliveryId: 'd',
      receivedAt: '2026-03-04T05:06:07.089Z',
      origin: 'import',
      outcome: 'stored',
      colour: 'blue',
    };
    expect(parse(ndjson(short)).lines).toMatchObject([{ ...short, jobId: null, items: [], bytes: 0 }]);
  });
});
