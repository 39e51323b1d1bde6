import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createLedger } from '../../src/ledger/write/ledger.js';
import { Canary } from '../../src/operations/health/canary.js';
import { createFileStore } from '../../src/store/file/file-store.js';
import type { ObjectStore } from '../../src/store/object-store.js';
import { ledgerLine } from '../support/ledger/ledger-lines.js';
import { readLines } from '../support/ledger/read-lines.js';

describe('ledger on files', () => {
  let folder: string;
  let store: ObjectStore;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ledger-'));
    store = createFileStore({ directory: folder, partSize: 64 * 1024 });
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('gives back every line two replicas appended at once, exactly once', async () => {
    const ledgers = ['a', 'b'].map((replica) => createLedger({ store, replica, maxSegmentBytes: 4000 }));
    const lines = Array.from({ length: 200 }, (_, n) =>
      ledgerLine({ receivedAt: `2026-03-04T0${n % 3}:00:00.000Z`, reason: `grüß ${n}` }),
    );
    await Promise.all(lines.map((line, n) => ledgers[n % 2]?.append(line)));
    await Promise.all(ledgers.map((ledger) => ledger.close()));

    const found = await Array.fromAsync(readLines(store), (line) => JSON.stringify(line));
    expect(found.sort()).toEqual(lines.map((line) => JSON.stringify(line)).sort());
  });

  it('is proven writable by the canary', async () => {
    const canary = new Canary({ store, replica: 'r' });
    expect(await canary.check()).toMatchObject({ writable: true, reason: null });
  });
});
