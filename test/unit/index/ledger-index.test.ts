import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLedgerIndex } from '../../../src/index/ledger-index.js';
import { ledgerLine } from '../../support/ledger/ledger-lines.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const HOUR = Date.parse('2026-03-04T12:00:00.000Z');

describe('a damaged index', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  it('is deleted by whichever call finds the damage and answers nothing more, and the next one begins a new file', async () => {
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

    const damaged = createLedgerIndex(path, 'store');
    expect(() => damaged.findLines({ limit: 5000 })).toThrow('is built again');
    expect(() => damaged.apply([])).toThrow();
    damaged.close();
    const next = createLedgerIndex(path, 'store');
    expect(next.state()).toEqual({
      since: null,
      until: null,
      relistedAt: null,
      retriedAt: null,
      missing: [],
    });
    next.close();
  });
});
