import { beforeEach, describe, expect, it } from '@jest/globals';
import { HOUR, hourAt } from '../../../../src/ledger/hours.js';
import { type MergeRecord, readMergedHour } from '../../../../src/ledger/log/merge-record.js';
import { readMergedSegments } from '../../../../src/ledger/log/merged-segments.js';
import { segmentKey } from '../../../../src/ledger/segment-key.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { mergeLedger } from '../../../support/ledger/merge-ledger.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const START = Date.parse('2026-03-04T05:00:00.000Z');
const FOLDER = hourAt(START);

/** Numbers of lines: members have 1,024, so that the second segment is in two of them, and the fourth in three. */
const LINES = [700, 700, 1, 2500, 100];
const TEXTS = LINES.map((count, at) =>
  Array.from(
    { length: count },
    (_, line) => `${JSON.stringify(ledgerLine({ jobId: `${at}-${line}` }))}\n`,
  ).join(''),
);

let store: ReturnType<typeof createMemoryStore>;
let record: MergeRecord;

async function textsOf(from?: number, to?: number, of = record): Promise<string[]> {
  const found = await Array.fromAsync(readMergedSegments(store, of, from, to));
  return found.map(({ content }) => content.toString());
}

beforeEach(async () => {
  const now = START + 2 * HOUR;
  store = createMemoryStore(undefined, () => now);
  for (const [at, text] of TEXTS.entries())
    store.put(segmentKey({ hour: FOLDER, writer: 'a', number: at + 1 }), text, START);
  await mergeLedger({ store, clock: () => now, keepSegments: null });
  record = (await readMergedHour(store, FOLDER)).records[0] as MergeRecord;
});

describe('segments of a merged object', () => {
  it('have their bytes, wherever its members begin', async () => {
    expect(record.members).toHaveLength(4);
    expect(await textsOf()).toEqual(TEXTS);
  });

  it.each(TEXTS.map((_, at) => at))('are read alone: the one with the index %i', async (at) => {
    expect(await textsOf(at, at + 1)).toEqual([TEXTS[at]]);
  });

  it('that should have more lines than the object has are a fault', async () => {
    const segments = record.segments.map((segment) => ({ ...segment, lines: segment.lines + 1 }));
    await expect(textsOf(undefined, undefined, { ...record, segments })).rejects.toThrow(
      'it has fewer lines than its record says',
    );
  });
});
