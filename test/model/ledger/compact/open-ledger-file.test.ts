import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { probeOfJob } from '../../../../src/ledger/parquet/job-blooms.js';
import { LedgerFileError } from '../../../../src/ledger/parquet/ledger-file-error.js';
import { writeLedgerFile } from '../../../../src/ledger/parquet/ledger-parquet.js';
import { type LedgerFile, openLedgerFile } from '../../../../src/ledger/parquet/open-ledger-file.js';
import type { RollupParquet } from '../../../../src/ledger/rollup/rollup.js';
import { type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import { sortable } from '../../../support/ledger/compacted-hours.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const KEY = 'ledger-parquet/dt=2026-03-04/hour=05/0001.parquet';
const START = Date.parse('2026-03-04T05:00:00Z');

/** Lines of an hour, in order. */
function linesOf(count: number): LedgerLine[] {
  return Array.from({ length: count }, (_, index) =>
    ledgerLine({
      receivedAt: new Date(START + index * 300).toISOString(),
      jobId: index % 10 === 0 ? null : `job-${index}`,
      outcome: index % 7 === 0 ? 'refused' : 'stored',
      items: [
        {
          kind: 'data',
          key: `jobs/${index}/data`,
          size: index,
          sha256: `${index}`.padStart(64, 'f'),
          outcome: 'created',
        },
      ],
    }),
  );
}

interface Encoded {
  readonly bytes: Buffer;
  readonly parquet: RollupParquet;
}

async function encode(lines: readonly LedgerLine[]): Promise<Encoded> {
  const store = createMemoryStore();
  const parquet = await writeLedgerFile(store, KEY, sortable(lines));
  return { bytes: store.objects.get(KEY)?.body ?? Buffer.alloc(0), parquet };
}

async function storeWith(bytes: Buffer): Promise<ObjectStore> {
  const store = createMemoryStore();
  await store.create(KEY, bytes, { contentType: 'application/vnd.apache.parquet', metadata: {} });
  return store;
}

async function open({ bytes, parquet }: Encoded): Promise<LedgerFile> {
  return openLedgerFile(await storeWith(bytes), parquet);
}

async function readAll(encoded: Encoded): Promise<LedgerLine[]> {
  const file = await open(encoded);
  await file.rowGroupsOfJobs([probeOfJob('job-1')]);
  const groups = await Promise.all(file.rowGroups.map((_, index) => file.readLines(index)));
  return groups.flat().map(({ line }) => line);
}

describe('an open ledger file', () => {
  const lines = linesOf(5000);
  const encoded = encode(lines);

  it('knows its row groups and the time of their first and last line', async () => {
    const file = await open(await encoded);

    const times = lines.map(({ receivedAt }) => Date.parse(receivedAt));
    expect(file.rowGroups.map(({ rows, first, last }) => [rows, first, last])).toEqual([
      [2048, times[0], times[2047]],
      [2048, times[2048], times[4095]],
      [904, times[4096], times[4999]],
    ]);
  });

  it('reads the lines of a row group, all or some', async () => {
    const file = await open(await encoded);

    const all = lines.map((line) => ({ line, writtenAt: Date.parse(line.receivedAt) }));
    expect(await file.readLines(1)).toEqual(all.slice(2048, 4096));
    expect(await file.readLines(2, [0, 5, 903])).toEqual([all[4096], all[4101], all[4999]]);
    await expect(file.readLines(3)).rejects.toThrow('no row group 3');
  });

  it('reads some columns of a row group', async () => {
    const columns = await (await open(await encoded)).readColumns(2, [
      'outcome',
      'receivedAt',
      'items',
      'jobId',
    ]);

    const expected = lines.slice(4096);
    expect(Object.keys(columns)).toEqual(['outcome', 'receivedAt', 'items', 'jobId']);
    expect(columns.outcome).toEqual(expected.map(({ outcome }) => outcome));
    expect(columns.receivedAt).toEqual(expected.map(({ receivedAt }) => Date.parse(receivedAt)));
    expect(columns.items).toEqual(expected.map(({ items }) => items));
    expect(columns.jobId).toEqual(expected.map(({ jobId }) => jobId));
  });

  it('finds the row groups of a job', async () => {
    const file = await open(await encoded);

    expect(await file.rowGroupsOfJobs([probeOfJob('job-1')])).toContain(0);
    expect(await file.rowGroupsOfJobs([probeOfJob('job-4999')])).toContain(2);
    const several = ['job-4999', 'job-1', 'other'].map(probeOfJob);
    expect(await file.rowGroupsOfJobs(several)).toEqual(expect.arrayContaining([0, 2]));
    const found = await Promise.all(
      Array.from({ length: 300 }, (_, index) => file.rowGroupsOfJobs([probeOfJob(`other-${index}`)])),
    );
    // 900 questions with 1 % of wrong answers.
    expect(found.flat().length).toBeLessThan(30);
  });

  it('has no row groups of jobs when no line has a job', async () => {
    const file = await open(await encode([ledgerLine({ jobId: null })]));

    expect(await file.rowGroupsOfJobs([probeOfJob('job-1')])).toEqual([]);
  });

  it('asks the store once for footer and bloom filters, and for a range of a row group', async () => {
    const { bytes, parquet } = await encoded;
    const store = await storeWith(bytes);
    const ranges: { start: number; end: number }[] = [];
    const counted: ObjectStore = {
      ...store,
      head: () => Promise.reject(new Error('head')),
      read: (key, range) => {
        if (range) ranges.push(range);
        return store.read(key, range);
      },
    };
    const file = await openLedgerFile(counted, parquet);
    await file.rowGroupsOfJobs([probeOfJob('job-1')]);
    await file.rowGroupsOfJobs([probeOfJob('job-2')]);
    await file.readColumns(0, ['deliveryId', 'outcome']);
    await file.readLines(0);

    expect(ranges).toHaveLength(3);
    const [tail = 0, columns, rowGroup = 0] = ranges.map(({ start, end }) => end - start + 1);
    expect(tail).toBeLessThan(bytes.length / 4);
    expect(columns).toBeLessThan(rowGroup * 0.7);
  });

  it('is not opened when it is missing', async () => {
    await expect(openLedgerFile(createMemoryStore(), (await encoded).parquet)).rejects.toThrow(
      LedgerFileError,
    );
  });

  it('reports a file that was removed after it was opened', async () => {
    const { bytes, parquet } = await encoded;
    const store = await storeWith(bytes);
    const file = await openLedgerFile(store, parquet);
    await store.delete(KEY);

    await expect(file.readLines(0)).rejects.toThrow(StoreError);
  });
});

describe('a file that is damaged, or another than that of its rollup', () => {
  const lines = linesOf(300);
  const encoded = encode(lines);
  const readWith = async (bytes: Buffer) => readAll({ bytes, parquet: (await encoded).parquet });

  it('is rejected, or read as written, with any bit flipped', async () => {
    const { bytes: original } = await encoded;
    await fc.assert(
      fc.asyncProperty(fc.nat(original.length - 1), fc.nat(7), async (offset, bit) => {
        const bytes = Buffer.from(original);
        bytes.writeUInt8(bytes.readUInt8(offset) ^ (1 << bit), offset);
        // A bit of a statistic of a page, which only other readers use.
        await readWith(bytes).then(
          (read) => expect(read).toEqual(lines),
          (error: unknown) => expect(error).toBeInstanceOf(LedgerFileError),
        );
      }),
      { numRuns: 150 },
    );
  });

  it('is rejected when it is truncated anywhere', async () => {
    const { bytes } = await encoded;
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), (length) =>
        expect(readWith(bytes.subarray(0, length))).rejects.toThrow(LedgerFileError),
      ),
    );
  });

  it('is rejected when it is the file of another hour', async () => {
    const other = await encode(linesOf(299));
    await expect(readWith(other.bytes)).rejects.toThrow(LedgerFileError);
    const padded = Buffer.concat([other.bytes, Buffer.alloc(1000)]);
    const { length } = (await encoded).bytes;
    await expect(readWith(padded.subarray(0, length))).rejects.toThrow(LedgerFileError);
  });
});
