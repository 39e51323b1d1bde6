import { expect, it } from '@jest/globals';
import { createLedgerIndex } from '../../../../src/index/ledger-index.js';
import { filterNames, rejectUnknownNames } from '../../../../src/index/questions/filter-names.js';
import { HOUR } from '../../../../src/ledger/hours.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';

it('a name of the context that no source admits any more is known as long as lines have it, to whoever sees one', async () => {
  const index = createLedgerIndex(':memory:', 'store');
  const line = ledgerLine({ source: 'intake', context: { customer: 'acme' } });
  const content = Buffer.from(`${JSON.stringify(line)}\n`);
  index.apply([{ hour: HOUR, writer: 'w', number: 1, written: HOUR, content }]);
  const view = {
    knowsName: async (...asked: Parameters<typeof index.knowsName>) => index.knowsName(...asked),
  };
  const names = filterNames(['intake', 'other'], []);
  await rejectUnknownNames({ context: 'customer=acme' }, names, view);
  await rejectUnknownNames({ context: 'customer=acme' }, names, view, new Set(['intake']));
  await expect(
    rejectUnknownNames({ context: 'customer=acme' }, names, view, new Set(['other'])),
  ).rejects.toThrow('"customer" is not known; no source admits any');
  await expect(rejectUnknownNames({ context: 'custommer=acme' }, names, view)).rejects.toThrow(/not known/);
  index.close();
});
