import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { LedgerLine } from '../../src/domain/delivery.js';
import { hourFolder } from '../../src/ledger/hours.js';
import { LEDGER_FOLDER, mergedObjectKey } from '../../src/ledger/ledger-keys.js';
import { scanLines } from '../../src/ledger/log/scan-lines.js';
import type { MergeParts } from '../../src/ledger/merge/merge-parts.js';
import { createLedger } from '../../src/ledger/write/ledger.js';
import { createFileStore } from '../../src/store/file/file-store.js';
import type { ObjectStore } from '../../src/store/object-store.js';
import { ledgerLine } from '../support/ledger/ledger-lines.js';
import { mergeLedger } from '../support/ledger/merge-ledger.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const PAGE = readFileSync(new URL('../../docs/ledger.md', import.meta.url), 'utf8');

/** The SQL blocks of a section, by the beginning of their text. */
function sqlOf(section: string): string[] {
  const [, text = ''] = PAGE.split(`\n## ${section}\n`);
  return [...(text.split('\n## ')[0] ?? '').matchAll(/```sql\n([\s\S]*?)```/g)].map(([, sql = '']) => sql);
}

const HOUR = hourFolder('2026-03-04T05:00:00.000Z');
type Row = Readonly<Record<string, unknown>>;

describe('the queries of docs/ledger.md in DuckDB', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let store: ObjectStore;
  let database: DuckDBInstance;
  let connection: DuckDBConnection;
  const [setUp = '', ...queries] = sqlOf('DuckDB');

  beforeEach(async () => {
    folder = await temporaryFolder();
    store = createFileStore({ directory: folder.path, partSize: 64 * 1024 });
    database = await DuckDBInstance.create(':memory:');
    connection = await database.connect();
  });
  afterEach(async () => {
    connection.closeSync();
    database.closeSync();
    await store.close();
    await folder.remove();
  });

  async function run(sql: string): Promise<Row[]> {
    const reader = await connection.runAndReadAll(sql.replace("'data/'", `'${folder.path}/'`));
    return reader.getRowObjectsJson() as Row[];
  }

  /** The lines of the documented view, as the product has them. */
  async function viewedLines(): Promise<unknown[]> {
    await run(setUp);
    const rows = await run('SELECT * EXCLUDE (dt, hour) FROM ledger');
    return rows.map(({ receivedAt, shape, items, bytes, actor, wouldRefuse, ...more }) => {
      const { context, contextOmitted, expired, ...rest } = more;
      return {
        ...rest,
        receivedAt: new Date(`${receivedAt}Z`).toISOString(),
        bytes: Number(bytes),
        shape: shape === null ? null : JSON.parse(String(shape)),
        items: (items as Row[]).map((item) => ({ ...item, size: Number(item.size) })),
        ...(actor === null ? undefined : { actor }),
        ...(wouldRefuse === null ? undefined : { wouldRefuse }),
        ...(context === null ? undefined : { context: JSON.parse(String(context)) }),
        ...(contextOmitted === null ? undefined : { contextOmitted: JSON.parse(String(contextOmitted)) }),
        ...(expired === null ? undefined : { expired: JSON.parse(String(expired)) }),
      };
    });
  }

  async function writtenLines(): Promise<LedgerLine[]> {
    const lines: LedgerLine[] = [];
    const ignore = () => {};
    const since = Number.NEGATIVE_INFINITY;
    const until = Number.POSITIVE_INFINITY;
    for await (const { line } of scanLines({ store, since, until, onFault: ignore, onUnreadable: ignore }))
      lines.push(line);
    return lines;
  }

  async function write(lines: readonly LedgerLine[]): Promise<void> {
    for (const line of lines) {
      const clock = () => Date.parse(line.receivedAt);
      await createLedger({ store, replica: 'r', clock }).append(line);
    }
  }

  async function segmentsOf(hour: string): Promise<string[]> {
    return Array.fromAsync(store.list(`${LEDGER_FOLDER}${hour}`), ({ key }) => key);
  }

  /** Merges what is whole at that time: the hour from five to six. */
  async function mergeHour(options: Partial<MergeParts> = {}): Promise<void> {
    const clock = () => Date.parse('2026-03-04T06:21:00Z');
    const report = await mergeLedger({ store, clock, keepSegments: null, ...options });
    expect(report.faults).toEqual([]);
  }

  function byPosition(lines: readonly unknown[]): string[] {
    return lines.map((line) => JSON.stringify(Object.entries(line as object).sort())).sort();
  }

  const item = { kind: 'data', key: 'jobs/a/data', size: 7, sha256: 'a', outcome: 'created' } as const;
  const LINES = [
    ledgerLine({ receivedAt: '2026-03-04T05:00:00.001Z', jobId: 'abc123', items: [item] }),
    ledgerLine({
      receivedAt: '2026-03-04T05:30:00.000Z',
      origin: 'replay',
      actor: 'me',
      reason: "it's over",
    }),
    ledgerLine({ receivedAt: '2026-03-04T05:59:59.999Z', jobId: 'abc123', wouldRefuse: 'address' }),
    ledgerLine({
      receivedAt: '2026-03-04T06:00:00.000Z',
      jobId: 'def',
      items: [{ ...item, kind: 'transcript.json-v2' }],
      shape: { contentType: 'a/b', framing: 'chunked', parts: [{ name: null, bytes: 3 }] },
    }),
  ];
  const WITH_CONTEXT = [
    ...LINES,
    ledgerLine({
      receivedAt: '2026-03-04T05:40:00.000Z',
      context: { call: '123', 'Case-id': 'a"b' },
      contextOmitted: { customer: 'repeated' },
    }),
    ledgerLine({
      receivedAt: '2026-03-04T05:45:00.000Z',
      origin: 'retention',
      outcome: 'expired',
      expired: { kind: 'data', objects: 2 },
    }),
  ];

  it('show every line before anything is merged', async () => {
    await write(LINES);
    expect(byPosition(await viewedLines())).toEqual(byPosition(LINES));
  });

  it('count each line once where an hour is merged, with and without its segments', async () => {
    await write(LINES);
    expect(await segmentsOf(HOUR)).toHaveLength(3);
    await mergeHour({ objectBytes: 1 });
    expect(await viewedLines()).toHaveLength(LINES.length);
    expect(await run("FROM glob(getvariable('files'))")).toHaveLength(4);
    expect(await run('SELECT DISTINCT object FROM merged')).toHaveLength(3);
    expect(byPosition(await viewedLines())).toEqual(byPosition(await writtenLines()));
    for (const key of await segmentsOf(HOUR)) await store.delete(key);
    expect(byPosition(await viewedLines())).toEqual(byPosition(LINES));
  });

  it('give the context, where some hours have it and others do not', async () => {
    await write(LINES);
    await run(setUp);
    expect(await run("SELECT context->>'call' AS call FROM ledger LIMIT 1")).toEqual([{ call: null }]);
    await write(WITH_CONTEXT.slice(LINES.length));
    await mergeHour();
    expect(byPosition(await viewedLines())).toEqual(byPosition(WITH_CONTEXT));
    expect(await run("SELECT 1 AS found FROM ledger WHERE context->>'call' = '123'")).toHaveLength(1);
    await write([ledgerLine({ receivedAt: '2026-03-04T07:00:00.000Z', context: { call: '7' } })]);
    await run(setUp);
    expect(await run("FROM ledger WHERE context->>'call' = '7'")).toHaveLength(1);
  });

  it('leave out an object without a record, which a killed process left behind, and show what came late', async () => {
    await write(LINES);
    const key = mergedObjectKey('ledger/', HOUR, 1, '0a1b2c3d4e5f6071');
    const left = gzipSync(`${JSON.stringify(LINES[0])}\n`);
    await store.create(key, left, { contentType: 'application/gzip', metadata: {} });
    expect(byPosition(await viewedLines())).toEqual(byPosition(LINES));
    await mergeHour();
    await write(WITH_CONTEXT.slice(LINES.length));
    expect(byPosition(await viewedLines())).toEqual(byPosition(WITH_CONTEXT));
  });

  it('read an object of many members to its end', async () => {
    const lines = Array.from({ length: 3000 }, (_, n) => ({ ...LINES[0], jobId: `job-${n}` }) as LedgerLine);
    const ledger = createLedger({ store, replica: 'r', clock: () => Date.parse('2026-03-04T05:10:00Z') });
    await Promise.all(lines.map((line) => ledger.append(line)));
    await mergeHour();
    await run(setUp);
    expect(await run('SELECT count(DISTINCT jobId)::INTEGER AS jobs FROM ledger')).toEqual([{ jobs: 3000 }]);
    const [object = ''] = (await run('SELECT DISTINCT object FROM merged')).map(({ object }) =>
      String(object),
    );
    // Another reader.
    const text = execFileSync('zcat', [`${folder.path}/${object}`], { maxBuffer: 10_000_000 }).toString();
    expect(text).toBe(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  });

  it('write Parquet that has every line', async () => {
    await write(WITH_CONTEXT);
    await mergeHour();
    await run(setUp);
    const [copy = ''] = sqlOf('Parquet');
    const file = `${folder.path}/out.parquet`;
    await run(copy.replace("'ledger-2026-03-04.parquet'", `'${file}'`));
    expect(copy).not.toContain(file);
    const columns = '* EXCLUDE (dt, hour, day) REPLACE (shape::VARCHAR AS shape)';
    const rows = await run(`SELECT ${columns} FROM read_parquet('${file}')`);
    const viewed = await run(`SELECT ${columns.replace(', day', '')} FROM ledger`);
    expect(rows).toHaveLength(WITH_CONTEXT.length);
    expect(byPosition(rows)).toEqual(byPosition(viewed));
  });

  it('leave out damaged lines and lines of a newer version, as this receiver does', async () => {
    await write(LINES);
    const place = `${folder.path}/${LEDGER_FOLDER}${hourFolder('2026-03-04T07:00:00.000Z')}`;
    await mkdir(place, { recursive: true });
    const newer = JSON.stringify({ ...LINES[0], v: 2 });
    await writeFile(`${place}x~00000001.ndjson`, `${JSON.stringify(LINES[0])}\n{"v":1,\n${newer}\n[]\n`);
    expect(byPosition(await viewedLines())).toEqual(byPosition(await writtenLines()));
  });

  it('answer what they promise', async () => {
    await write(LINES);
    await mergeHour();
    await run(setUp);
    const [byHour, withoutTranscript, readers] = await Promise.all(queries.map(run));
    expect(queries).toHaveLength(3);
    expect(byHour?.map(({ hour, lines }) => ({ hour, lines: Number(lines) }))).toEqual([
      { hour: '05', lines: 3 },
      { hour: '06', lines: 1 },
    ]);
    expect(withoutTranscript?.map(({ jobId }) => jobId).sort()).toEqual([LINES[0]?.jobId, LINES[1]?.jobId]);
    expect(readers).toEqual([]);
  });

  it('tell who has read the content of a job, from segments and from merged hours', async () => {
    const read = {
      origin: 'admin',
      outcome: 'read',
      jobId: 'abc123',
      status: null,
      clientIp: '192.0.2.1',
    } as const;
    const looked = { ...item, outcome: 'read' } as const;
    const at = (second: number) => `2026-03-04T05:00:0${second}.000Z`;
    await write([
      ledgerLine({ receivedAt: at(1), jobId: 'abc123', items: [item] }),
      ledgerLine({ ...read, receivedAt: at(2), actor: 'desk', items: [looked] }),
      ledgerLine({ ...read, receivedAt: at(3), actor: 'ops', reason: 'ticket', items: [] }),
      ledgerLine({ ...read, receivedAt: at(4), actor: 'ops', jobId: 'other', items: [looked] }),
    ]);
    for (const merged of [false, true]) {
      if (merged) await mergeHour();
      await run(setUp);
      const [byHour] = await Promise.all([run(queries[0] ?? '')]);
      expect(byHour?.map(({ lines }) => Number(lines))).toEqual([1]);
      const readers = await run(queries[2] ?? '');
      expect(
        readers.map(({ actor, clientIp, reason, kind, key }) => [actor, clientIp, reason, kind, key]),
      ).toEqual([
        ['desk', '192.0.2.1', null, 'data', 'jobs/a/data'],
        ['ops', '192.0.2.1', 'ticket', null, null],
      ]);
    }
  });
});
