import { gunzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import type { StoreView } from './store-view.js';

const DAY = 86_400_000;
const WRITERS = ['old-a', 'old-b'];
const SEGMENTS = 10;
const LINES = 500;

/** Writes the segments of an hour that is long whole, so that there is something to compact. Resolves to its folder. */
export async function layOldHour(view: StoreView, daysAgo: number): Promise<string> {
  const day = new Date(Date.now() - daysAgo * DAY).toISOString().slice(0, 10);
  const folder = `dt=${day}/hour=05/`;
  const write = async (writer: string, number: number): Promise<void> => {
    const segment = `${writer}~${String(number).padStart(8, '0')}`;
    const lines = Array.from({ length: LINES }, (_, index) => line(day, `${segment}~${index}`));
    await view.write(`ledger/${folder}${segment}.ndjson`, lines.join(''));
  };
  const numbers = Array.from({ length: SEGMENTS }, (_, index) => index + 1);
  await Promise.all(WRITERS.flatMap((writer) => numbers.map((number) => write(writer, number))));
  return folder;
}

function line(day: string, place: string): string {
  const fields = {
    ...{ v: 1, deliveryId: `${day}~${place}`, receivedAt: `${day}T05:30:00.000Z`, origin: 'callback' },
    ...{ source: 'default', region: null, clientIp: '127.0.0.1', method: 'POST', jobId: `${day}-${place}` },
    ...{ status: 'running', credential: 'chaos', outcome: 'noted', reason: null, items: [] },
    ...{ bytes: 0, durationMs: 1, shape: { contentType: null, framing: 'none', parts: [] } },
  };
  return `${JSON.stringify(fields)}\n`;
}

/** What is wrong in the Parquet files of some hours: each line of their segments must be there, and once. */
export async function checkCompacted(
  view: StoreView,
  hours: readonly string[],
): Promise<{ readonly lost: string[]; readonly double: string[] }> {
  const faults: Record<'lost' | 'double', string[]> = { lost: [], double: [] };
  const expected = WRITERS.length * SEGMENTS * LINES;
  const keys = await view.keys();
  for (const hour of hours) {
    const ids: unknown[] = [];
    // A file counts only with its rollup.
    for (const key of keys.filter((name) => name.startsWith(`rollups/${hour}`))) {
      const file = await view.read(key.replace('rollups/', 'ledger-parquet/').replace('.json', '.parquet'));
      ids.push(...(await deliveryIds(file)));
    }
    const distinct = new Set(ids).size;
    if (distinct !== expected) faults.lost.push(`${hour}: ${distinct} of ${expected} lines in Parquet`);
    if (ids.length > distinct)
      faults.double.push(`${hour}: ${ids.length - distinct} lines more than once in Parquet`);
  }
  return faults;
}

async function deliveryIds(parquet: Buffer): Promise<unknown[]> {
  const file = new Uint8Array(parquet).buffer;
  const compressors = { GZIP: (bytes: Uint8Array) => gunzipSync(bytes) };
  const rows = await parquetReadObjects({ file, columns: ['deliveryId'], compressors });
  return rows.map(({ deliveryId }) => deliveryId);
}
