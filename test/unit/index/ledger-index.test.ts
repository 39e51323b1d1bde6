import { open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLedgerIndex } from '../../../src/index/ledger-index.js';
import { IndexLostError } from '../../../src/index/open-database.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const HOUR = Date.parse('2026-03-04T12:00:00.000Z');

describe('a damaged index', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  it('begins a new file as soon as one can be begun, when that failed at first', async () => {
    const away = `${folder.path}-away`;
    const path = join(folder.path, 'index.sqlite');
    const first = createLedgerIndex(path, 'store');
    const content = Buffer.from(`${JSON.stringify(ledgerLine())}\n`.repeat(5000));
    first.apply([{ hour: HOUR, writer: 'w', number: 1, written: HOUR, content }]);
    first.close();
    const { size } = await stat(path);
    const file = await open(path, 'r+');
    // Behind what is read when it is opened.
    await file.write(Buffer.alloc(size / 2, 0xa5), 0, size / 2, size / 2);
    await file.close();

    const index = createLedgerIndex(path, 'store');
    await rename(folder.path, away);
    expect(() => index.findLines({ limit: 5000 })).toThrow(IndexLostError);
    expect(() => index.state()).toThrow(/unable to open/);
    await rename(away, folder.path);
    // What fills it has to begin from nothing.
    expect(() => index.apply([])).toThrow(IndexLostError);
    expect(index.state()).toEqual({ since: null, until: null, relistedAt: null, missing: [] });
    index.close();
  });
});
