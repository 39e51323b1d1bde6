import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { HOUR } from '../../../../src/ledger/hours.js';
import { type PlacedLine, readLinesAt } from '../../../../src/ledger/log/read-lines-at.js';
import { createFileStore } from '../../../../src/store/file/file-store.js';
import type { ObjectStore } from '../../../../src/store/object-store.js';
import { writeHour } from '../../../support/ledger/file-ledger.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const SEGMENTS = 12;

describe('reading lines at their places', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let store: ObjectStore;
  let lines: LedgerLine[];

  beforeEach(async () => {
    folder = await temporaryFolder();
    store = createFileStore({ directory: folder.path, partSize: 64 * 1024, fsync: false });
    lines = await writeHour(store, HOUR, { segments: SEGMENTS, lines: 1 });
  });
  afterEach(() => folder.remove());

  const places = Array.from(
    { length: SEGMENTS },
    (_, at): PlacedLine => ({ hour: HOUR, written: HOUR, writer: 'r', number: at + 1, line: 0 }),
  );

  it('reads four segments at once for all who ask', async () => {
    let [atWork, most] = [0, 0];
    const read: ObjectStore['read'] = async (...given) => {
      atWork += 1;
      most = Math.max(most, atWork);
      const reading = await store.read(...given);
      reading?.body.once('close', () => {
        atWork -= 1;
      });
      return reading;
    };
    const asked = Array.from({ length: 3 }, () => readLinesAt({ ...store, read }, places));
    for (const found of await Promise.all(asked)) expect(found).toEqual({ lines, unread: [] });
    expect(most).toBe(4);
  });
});
