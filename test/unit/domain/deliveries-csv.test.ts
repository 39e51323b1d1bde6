import { expect, it } from '@jest/globals';
import { deliveriesCsv } from '../../../src/domain/deliveries-csv.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';

it('quotes what needs it, and lets no spreadsheet take a value for a formula', () => {
  const line = ledgerLine({
    jobId: 'j1',
    reason: 'said "no", twice\nand again',
    context: { call: '=HYPERLINK("http://x")', agent: '+49' },
    bytes: 12,
  });
  const [titles, row] = deliveriesCsv([line, ledgerLine({ jobId: null })]).split('\r\n');
  expect(titles?.endsWith(',deliveryId,agent,call')).toBe(true);
  expect(row).toContain(',"said ""no"", twice\nand again",');
  expect(row?.endsWith(`,'+49,"'=HYPERLINK(""http://x"")"`)).toBe(true);
});
