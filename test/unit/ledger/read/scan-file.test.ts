import { expect, it } from '@jest/globals';
import { writeLedgerFile } from '../../../../src/ledger/parquet/ledger-parquet.js';
import { openLedgerFile } from '../../../../src/ledger/parquet/open-ledger-file.js';
import { EVERYTHING } from '../../../../src/ledger/read/log/log-filter.js';
import { END_OF_LOG } from '../../../../src/ledger/read/log/log-position.js';
import { scanFile } from '../../../../src/ledger/read/log/scan-file.js';
import { sortable } from '../../../support/ledger/compacted-hours.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

it('does not read the columns that showed the wanted rows again for their lines', async () => {
  const lines = Array.from({ length: 100 }, (_, index) => ledgerLine({ jobId: `job-${index}` }));
  const store = createMemoryStore();
  const parquet = await writeLedgerFile(store, 'file.parquet', sortable(lines));
  const starts: number[] = [];
  const counted: typeof store = {
    ...store,
    read(key, range) {
      starts.push(range?.start ?? 0);
      return store.read(key, range);
    },
  };
  const steps = scanFile({
    range: { order: 'newest', since: Number.NEGATIVE_INFINITY, before: END_OF_LOG },
    filter: { ...EVERYTHING, wanted: { job: 'job-7' } },
    open: () => openLedgerFile(counted, parquet),
    onFault: (text) => expect(text).toBe('no fault'),
    fromSegments: () => expect('segments').toBe('not read') as never,
  });
  const found = [];
  for await (const { entries } of steps) found.push(...entries.map(({ line }) => line));

  expect(found).toEqual([lines[7]]);
  const [_tail, columns, others = 0] = starts;
  expect(starts).toHaveLength(3);
  expect(others).toBeGreaterThan(columns ?? 0);
});
