import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { parseSegment } from '../../../../../src/ledger/parse-segment.js';
import { entryOf } from '../../../../../src/ledger/read/log/log-entry.js';
import {
  createRowPacker,
  type LedgerRow,
  linesOf,
} from '../../../../../src/ledger/read/window/ledger-row.js';

const text = (n: number) =>
  JSON.stringify({
    v: 1,
    deliveryId: `01K7${String(n).padStart(22, '0')}`,
    receivedAt: new Date(1_700_000_000_000 + n).toISOString(),
    origin: 'callback',
    jobId: `job-${n}`,
    outcome: 'stored',
  });

const entries = (lines: readonly string[]) =>
  parseSegment(Buffer.from(`${lines.join('\n')}\n`)).entries.map(({ line }) =>
    entryOf(line, 1_700_000_000_000),
  );

/** Rows of `count` lines in segments of `each` lines. */
function packed(count: number, each: number): LedgerRow[] {
  const pack = createRowPacker();
  const rows: LedgerRow[] = [];
  for (let n = 0; n < count; n += each) {
    const lines = Array.from({ length: Math.min(each, count - n) }, (_, k) => text(n + k));
    rows.push(...pack(entries(lines)));
  }
  return rows;
}

describe('rows of the read model', () => {
  it.each([
    ['a line each', 1],
    ['three lines each', 3],
    ['more lines than a block holds', 150],
  ])('give back their lines, whatever size segments had: %s', async (_name, each) => {
    const rows = packed(300, each);
    const ids = (of: readonly LedgerRow[]) => linesOf(of).map((line) => line?.jobId);
    const expected = Array.from({ length: 300 }, (_, n) => `job-${n}`);
    expect(ids(rows)).toEqual(expected);
    // Blocks are compressed in the background.
    await sleep(50);
    expect(ids(rows)).toEqual(expected);
    expect(ids([...rows].reverse())).toEqual([...expected].reverse());
  });

  it('share blocks across segments, so that small ones cost no buffer each', () => {
    const blocks = new Set(packed(300, 1).map(({ block }) => block));
    expect(blocks.size).toBe(5);
  });
});
