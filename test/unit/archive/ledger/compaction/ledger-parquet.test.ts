import { describe, expect, it } from '@jest/globals';
import { writeLedgerFile } from '../../../../../src/archive/ledger/compaction/ledger-parquet.js';
import { openLedgerFile } from '../../../../../src/archive/ledger/compaction/open-ledger-file.js';
import { sortLines } from '../../../../../src/archive/ledger/compaction/sort-lines.js';
import type { LedgerLine } from '../../../../../src/domain/delivery.js';
import { ledgerLine } from '../../../../support/ledger/ledger-lines.js';
import { createMemoryStore } from '../../../../support/store/memory-store.js';

const KEY = 'ledger-parquet/dt=2026-03-04/hour=05/0001.parquet';

const sortable = (line: LedgerLine) => ({ ...line, text: JSON.stringify(line) });

async function writeAndRead(lines: readonly LedgerLine[]): Promise<LedgerLine[]> {
  const store = createMemoryStore();
  await writeLedgerFile(store, KEY, await sortLines(lines.map(sortable)));
  const file = await openLedgerFile(store, KEY);
  const groups = await Promise.all((file?.rowGroups ?? []).map((_, index) => file?.readLines(index)));
  return groups.flatMap((group) => group ?? []);
}

describe('a ledger file', () => {
  it('gives back the lines it was written from, by time of receipt', async () => {
    const lines = [3, 1, 2].map((minute) =>
      ledgerLine({ receivedAt: `2026-03-04T05:0${minute}:00.000Z`, jobId: `job-${minute}` }),
    );

    expect(await writeAndRead(lines)).toEqual([lines[1], lines[2], lines[0]]);
  });
});
