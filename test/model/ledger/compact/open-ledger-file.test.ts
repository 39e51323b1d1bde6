import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parquetMetadata } from 'hyparquet';
import type { LedgerLine } from '../../../../src/domain/delivery.js';
import { probeOfJob } from '../../../../src/ledger/compact/job-blooms.js';
import { LedgerFileError } from '../../../../src/ledger/compact/ledger-file-error.js';
import { encodeLedgerFile } from '../../../../src/ledger/compact/ledger-parquet.js';
import { type LedgerFile, openLedgerFile } from '../../../../src/ledger/compact/open-ledger-file.js';
import { sortLines } from '../../../../src/ledger/compact/sort-lines.js';
import { type ObjectStore, StoreError } from '../../../../src/store/object-store.js';
import { ledgerLine } from '../../../support/ledger/ledger-lines.js';
import { createMemoryStore } from '../../../support/store/memory-store.js';

const KEY = 'ledger-parquet/dt=2026-03-04/hour=05/0001.parquet';
const START = Date.parse('2026-03-04T05:00:00Z');

/** More than a footer may have. */
const FOOTER_VALUES = 500_001;

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

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

/** What a rollup says of a file. */
const EXTENT = { rows: 5000, first: START, last: START + 4999 * 300 };

async function encode(lines: readonly LedgerLine[]): Promise<Buffer> {
  const sorted = await sortLines(lines.map((line) => ({ ...line, text: JSON.stringify(line) })));
  const chunks: Buffer[] = [];
  for await (const chunk of encodeLedgerFile(sorted)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function storeWith(bytes: Buffer): Promise<ObjectStore> {
  const store = createMemoryStore();
  await store.create(KEY, bytes, { contentType: 'application/vnd.apache.parquet', metadata: {} });
  return store;
}

async function open(bytes: Buffer): Promise<LedgerFile> {
  const file = await openLedgerFile(await storeWith(bytes), KEY);
  if (file === null) throw new Error('the file is missing');
  return file;
}

async function readAll(bytes: Buffer): Promise<LedgerLine[]> {
  const file = await open(bytes);
  await file.rowGroupsOfJobs([probeOfJob('job-1')]);
  const groups = await Promise.all(file.rowGroups.map((_, index) => file.readLines(index)));
  return groups.flat();
}

describe('an open ledger file', () => {
  const lines = linesOf(5000);
  const encoded = encode(lines);

  it('knows its row groups and the time of their first and last line', async () => {
    const file = await open(await encoded);

    expect(file.rows).toBe(5000);
    expect(file.bytes).toBe((await encoded).length);
    const times = lines.map(({ receivedAt }) => Date.parse(receivedAt));
    expect(file.rowGroups.map(({ rows, first, last }) => [rows, first, last])).toEqual([
      [2048, times[0], times[2047]],
      [2048, times[2048], times[4095]],
      [904, times[4096], times[4999]],
    ]);
  });

  it('reads the lines of a row group, all or some', async () => {
    const file = await open(await encoded);

    expect(await file.readLines(1)).toEqual(lines.slice(2048, 4096));
    expect(await file.readLines(2, [0, 5, 903])).toEqual([lines[4096], lines[4101], lines[4999]]);
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

  it('has columns of the context only where a line has one, so that earlier versions read the others', async () => {
    const parquetColumns = async (bytes: Buffer) => {
      const { buffer, byteOffset, byteLength } = new Uint8Array(bytes);
      const { schema } = parquetMetadata(buffer.slice(byteOffset, byteOffset + byteLength));
      return schema.map(({ name }) => name);
    };
    const line = ledgerLine({ context: { call: '1' } });
    const plain = ledgerLine();
    const withContext = await encode([line, plain]);

    expect(await parquetColumns(await encoded)).toEqual(
      ['ledger', 'deliveryId', 'receivedAt', 'origin', 'source', 'region', 'jobId', 'status', 'outcome']
        .concat(['credential', 'bytes', 'durationMs', 'clientIp', 'method', 'reason', 'actor', 'wouldRefuse'])
        .concat(['items', 'list', 'element', 'kind', 'key', 'size', 'sha256', 'outcome'])
        .concat(['shape', 'extra', 'raw', 'v']),
    );
    expect(await parquetColumns(withContext)).toEqual(expect.arrayContaining(['context', 'contextOmitted']));
    expect((await (await open(await encoded)).readColumns(2, ['context', 'v'])).context).toEqual(
      new Array(904).fill(null),
    );
    expect((await (await open(withContext)).readColumns(0, ['context'])).context).toEqual([
      '{"call":"1"}',
      null,
    ]);
    expect(await readAll(withContext)).toEqual([line, plain]);
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

  it('asks the store for the end of the file, for a range of a row group and once for the bloom filters', async () => {
    const bytes = await encoded;
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
    const file = await openLedgerFile(counted, KEY, { ...EXTENT, bytes: bytes.length });
    await file?.readColumns(0, ['deliveryId', 'outcome']);
    await file?.rowGroupsOfJobs([probeOfJob('job-1')]);
    await file?.rowGroupsOfJobs([probeOfJob('job-2')]);
    await file?.readLines(0);

    expect(ranges).toHaveLength(4);
    expect(ranges[0]).toEqual({ start: Math.max(0, bytes.length - 128 * 1024), end: bytes.length - 1 });
    const [, columns, blooms, rowGroup = 0] = ranges.map(({ start, end }) => end - start + 1);
    expect(columns).toBeLessThan(rowGroup * 0.7);
    expect(blooms).toBeLessThan(15_000);
  });

  it('is null when it is missing', async () => {
    expect(await openLedgerFile(createMemoryStore(), KEY)).toBeNull();
    expect(await openLedgerFile(createMemoryStore(), KEY, { ...EXTENT, bytes: 1000 })).toBeNull();
  });

  it('reports a file that was removed after it was opened', async () => {
    const store = await storeWith(await encoded);
    const file = await openLedgerFile(store, KEY);
    await store.delete(KEY);

    await expect(file?.readLines(0)).rejects.toThrow(StoreError);
  });
});

describe('a file that is damaged or foreign', () => {
  const lines = linesOf(300);
  const encoded = encode(lines);
  const rejected = (bytes: Buffer) => expect(readAll(bytes)).rejects.toThrow(LedgerFileError);

  it.each([0, 1, 7, 8, 12, 100])('is rejected when only %d bytes of it are there', async (length) => {
    await rejected((await encoded).subarray(0, length));
  });

  it.each([0xffffffff, 0x7fffffff, 1 << 24, 1, 0])(
    'is rejected with a footer of %d bytes',
    async (length) => {
      const bytes = Buffer.from(await encoded);
      bytes.writeUInt32LE(length, bytes.length - 8);
      await rejected(bytes);
    },
  );

  it('is rejected when it has another size than its reader knows', async () => {
    const store = await storeWith(await encoded);
    const extent = { ...EXTENT, bytes: (await encoded).length - 1 };
    await expect(openLedgerFile(store, KEY, extent)).rejects.toThrow(LedgerFileError);
  });

  it('is rejected, or read as written, with any bit flipped', async () => {
    const original = await encoded;
    await fc.assert(
      fc.asyncProperty(fc.nat(original.length - 1), fc.nat(7), async (offset, bit) => {
        const bytes = Buffer.from(original);
        bytes.writeUInt8(bytes.readUInt8(offset) ^ (1 << bit), offset);
        // A bit of a statistic that only other readers use, or of the name of the writer.
        await readAll(bytes).then(
          (read) => expect(read).toEqual(lines),
          (error: unknown) => expect(error).toBeInstanceOf(LedgerFileError),
        );
      }),
      { numRuns: 150 },
    );
  });

  it('is read up to a row group that its footer describes wrongly', async () => {
    const bytes = Buffer.from(await encode(linesOf(5000)));
    const names = Buffer.from('deliveryId');
    // The name is in the schema, then in each row group.
    let at = -1;
    for (let count = 0; count < 3; count += 1) at = bytes.indexOf(names, at + 1);
    bytes.write('X', at);
    const file = await open(bytes);

    expect(await file.readLines(0)).toHaveLength(2048);
    await expect(file.readLines(1)).rejects.toThrow('its row group 1 is damaged');
    expect(await file.readLines(2)).toHaveLength(904);
  });

  it('is rejected without the magic number at its end', async () => {
    const bytes = Buffer.from(await encoded);
    bytes.write('X', bytes.length - 1);
    await rejected(bytes);
  });

  it('is rejected with a bit flipped in the head of a page', async () => {
    // Not all of that is covered by the checksum of gzip.
    for (let offset = 4; offset < 64; offset += 1) {
      const bytes = Buffer.from(await encoded);
      bytes.writeUInt8(bytes.readUInt8(offset) ^ 1, offset);
      await rejected(bytes);
    }
  });

  it('is rejected when it is truncated anywhere', async () => {
    const original = await encoded;
    await fc.assert(
      fc.asyncProperty(fc.nat(original.length - 1), (length) => rejected(original.subarray(0, length))),
    );
  });

  it('is rejected when its footer holds random bytes', async () => {
    const original = await encoded;
    const length = original.readUInt32LE(original.length - 8);
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: length }),
        fc.nat(length - 1),
        (noise, at) => {
          const bytes = Buffer.from(original);
          bytes.set(noise.subarray(0, length - at), bytes.length - 8 - length + at);
          return readAll(bytes).then(
            (read) => expect(read).toEqual(lines),
            (error: unknown) => expect(error).toBeInstanceOf(LedgerFileError),
          );
        },
      ),
      { numRuns: 150 },
    );
  });

  it('is rejected when a list of its footer says that it has 30 million elements', async () => {
    // A struct with a list of lists, each of a length that V8 would reserve 240 MB for.
    const list = [0xf9, 0x80, 0x87, 0xa7, 0x0e];
    const footer = Buffer.from([0x29, ...Array.from({ length: 20 }, () => list).flat(), 0]);
    const trailer = Buffer.alloc(8, 'PAR1PAR1');
    trailer.writeUInt32LE(footer.length);
    const before = process.memoryUsage().heapUsed;

    await rejected(Buffer.concat([Buffer.from('PAR1'), footer, trailer]));
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(100 * 1024 * 1024);
  });

  it.each([
    ['a struct of flags', [...Array<number>(FOOTER_VALUES).fill(0x11), 0]],
    [
      'a list of empty structs',
      [0x19, 0xfc, ...varint(FOOTER_VALUES), ...Array<number>(FOOTER_VALUES).fill(0), 0],
    ],
  ])('is rejected when its footer is %s that would not fit into memory', async (_, footer) => {
    const trailer = Buffer.alloc(8, 'PAR1PAR1');
    trailer.writeUInt32LE(footer.length);

    const bytes = Buffer.concat([Buffer.from('PAR1'), Buffer.from(footer), trailer]);
    await expect(readAll(bytes)).rejects.toThrow('its footer has more than 500000 values');
  });

  it('is rejected when it is random', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), fc.boolean(), (noise, magic) =>
        rejected(Buffer.concat([noise, Buffer.from(magic ? 'PAR1' : '')])),
      ),
    );
  });
});
