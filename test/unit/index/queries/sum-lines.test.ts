import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { createLedgerIndex, type LedgerIndex } from '../../../../src/index/ledger-index.js';
import type { LineSums, SumCursor } from '../../../../src/index/queries/sum-lines.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';

const HOUR = Date.parse('2026-03-04T12:00:00.000Z');

/** Lines of three customers in turn, a call of its own each. */
function indexOf(lines: number): LedgerIndex {
  const index = createLedgerIndex(':memory:', 'store');
  const texts = Array.from({ length: lines }, (_, at) =>
    JSON.stringify(ledgerLine({ context: { call: `call-${at}`, customer: `c${at % 3}` } })),
  );
  const content = Buffer.from(`${texts.join('\n')}\n`);
  index.apply([{ hour: HOUR, writer: 'w', number: 1, written: HOUR, content }]);
  return index;
}

/** What each call comes to, the groups that are not complete yet included. */
function piecesOf(index: LedgerIndex, by: `context.${string}`, { until = HOUR + 1 } = {}): LineSums[] {
  const pieces: LineSums[] = [];
  let after: SumCursor | null = null;
  do {
    const found: LineSums = index.sumLines({ range: { since: 0, until }, by, keep: 2, after });
    pieces.push(found);
    after = found.next;
  } while (after !== null);
  return pieces;
}

const linesOf = ({ groups, rest }: LineSums) =>
  groups.reduce((sum, [, { lines }]) => sum + lines, rest?.parts.lines ?? 0);

describe('a sum by a value of the context', () => {
  afterEach(() => void jest.restoreAllMocks());

  it('reads 500 lines in a call when these take 30 ms, keeps no more groups than it is asked for, and counts each once', () => {
    const index = indexOf(1750);
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 30));
    const calls = piecesOf(index, 'context.call');
    // The last group of a call is given by the next one.
    expect(calls.map(linesOf)).toEqual([499, 500, 500, 251]);
    for (const { groups } of calls) expect(groups.length).toBeLessThanOrEqual(2);
    const customers = piecesOf(index, 'context.customer');
    expect(customers.flatMap(({ groups }) => groups.map(([, { lines }]) => lines)).sort()).toEqual([
      583, 583, 584,
    ]);
    index.close();
  });

  it('goes on for 30 ms in a call', () => {
    const index = indexOf(1750);
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 15));
    expect(piecesOf(index, 'context.call').map(linesOf)).toEqual([999, 751]);
    index.close();
  });

  it('counts the lines that it looks at, also where none of them matches', () => {
    const index = indexOf(1750);
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => (now += 30));
    expect(piecesOf(index, 'context.call', { until: HOUR }).map(linesOf)).toEqual([0, 0, 0, 0]);
    index.close();
  });
});
