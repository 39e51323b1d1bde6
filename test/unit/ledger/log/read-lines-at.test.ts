import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { HOUR, hourAt } from '../../../../src/ledger/hours.js';
import { type PlacedLine, readLinesAt } from '../../../../src/ledger/log/read-lines-at.js';
import { parseSegment } from '../../../../src/ledger/parse-segment.js';
import { segmentKey } from '../../../../src/ledger/segment-key.js';
import { createFileStore } from '../../../../src/store/file/file-store.js';
import { type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import { readToEnd } from '../../../../src/store/read-to-end.js';
import { writeHour } from '../../../support/ledger/file-ledger.js';
import { withUnreadable } from '../../../support/store/unreadable-objects.js';
import { temporaryFolder } from '../../../support/temporary-folder.js';

const SEGMENTS = 12;
const LINES = 10;
const HEADERS = { contentType: 'application/x-ndjson', metadata: {} };

describe('reading lines at their places', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let store: ObjectStore;
  let lines: LedgerLine[];
  let places: PlacedLine[];
  let reads: { atWork: number; most: number; bytes: number };

  beforeEach(async () => {
    folder = await temporaryFolder();
    const files = createFileStore({ directory: folder.path, partSize: 64 * 1024, fsync: false });
    lines = await writeHour(files, HOUR, { segments: SEGMENTS, lines: LINES });
    places = [];
    for (let number = 1; number <= SEGMENTS; number += 1)
      for (const { index, start, length } of parseSegment(await contentOf(files, number)).entries) {
        const place = { hour: HOUR, written: HOUR, writer: 'r', number, line: index };
        places.push({ ...place, span: { start, length } });
      }
    reads = { atWork: 0, most: 0, bytes: 0 };
    store = { ...files, read: (...given) => countRead(() => files.read(...given)) };
  });
  afterEach(() => folder.remove());

  async function countRead(read: () => ReturnType<ObjectStore['read']>) {
    reads.atWork += 1;
    reads.most = Math.max(reads.most, reads.atWork);
    const reading = await read();
    reading?.body.on('data', (chunk: Buffer) => {
      reads.bytes += chunk.length;
    });
    reading?.body.once('close', () => {
      reads.atWork -= 1;
    });
    return reading;
  }

  const keyOf = (number: number) => segmentKey({ hour: hourAt(HOUR), writer: 'r', number });
  const placesOf = (line: number) => places.filter((place) => place.line === line);
  const linesOf = (line: number) => lines.filter((_, at) => at % LINES === line);

  async function contentOf(files: ObjectStore, number: number): Promise<Buffer> {
    const reading = await files.read(keyOf(number));
    if (reading === null) throw new Error('the segment is missing');
    return readToEnd(reading);
  }

  it('reads four segments at once for all who ask', async () => {
    const asked = Array.from({ length: 3 }, () => readLinesAt(store, places));
    for (const found of await Promise.all(asked)) expect(found).toEqual({ lines, unread: [] });
    expect(reads.most).toBe(4);
  });

  it('reads the bytes from the first wanted line of a segment to the last, and no others', async () => {
    const some = placesOf(3);
    expect(await readLinesAt(store, some)).toEqual({ lines: linesOf(3), unread: [] });
    const lengths = some.map(({ span }) => span.length);
    expect(reads.bytes).toBe(lengths.reduce((sum, length) => sum + length, 0));
  });

  it('names a segment that cannot be read although the store answers, and rejects while that does not answer', async () => {
    const some = placesOf(3);
    let answers = true;
    const partly: ObjectStore = {
      ...withUnreadable(store, (key) => key === keyOf(2)),
      identity: () => (answers ? store.identity() : Promise.reject(new StoreError('read', 'no answer'))),
    };
    const expected = linesOf(3).map((line, at) => (at === 1 ? null : line));
    expect(await readLinesAt(partly, some)).toEqual({
      lines: expected,
      unread: [{ key: keyOf(2), lines: null }],
    });
    answers = false;
    await expect(readLinesAt(partly, some)).rejects.toThrow(StoreError);
  });

  it('names a segment that was changed by hand, so that its lines are elsewhere', async () => {
    const text = await contentOf(store, 1);
    await store.replace(keyOf(1), Buffer.concat([Buffer.from('{"changed":"by hand"}\n'), text]), HEADERS);
    const found = await readLinesAt(store, placesOf(3));
    expect(found.lines).toEqual(linesOf(3).map((line, at) => (at === 0 ? null : line)));
    expect(found.unread).toEqual([{ key: keyOf(1), lines: 1 }]);
  });
});
