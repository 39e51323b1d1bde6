import { gunzipSync } from 'node:zlib';
import type { StoreView } from './store-view.js';

const DAY = 86_400_000;
const WRITERS = ['old-a', 'old-b'];
const SEGMENTS = 10;
const LINES = 500;

export function isOldWriter(writer: string): boolean {
  return WRITERS.includes(writer);
}

/** Writes the segments of an hour that is long whole, so that there is something to merge. Resolves to its folder. */
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
    v: 1,
    deliveryId: `${day}~${place}`,
    receivedAt: `${day}T05:30:00.000Z`,
    origin: 'callback',
    source: 'default',
    region: null,
    clientIp: '127.0.0.1',
    method: 'POST',
    jobId: `${day}-${place}`,
    status: 'running',
    credential: 'chaos',
    outcome: 'noted',
    reason: null,
    items: [],
    bytes: 0,
    durationMs: 1,
    shape: { contentType: null, framing: 'none', parts: [] },
  };
  return `${JSON.stringify(fields)}\n`;
}

/** What is wrong in the merged objects of some hours: each line of their segments must be there, and once. */
export async function checkMerged(
  view: StoreView,
  hours: readonly string[],
): Promise<{ readonly lost: string[]; readonly double: string[] }> {
  const faults: Record<'lost' | 'double', string[]> = { lost: [], double: [] };
  const expected = WRITERS.length * SEGMENTS * LINES;
  const keys = await view.keys();
  for (const hour of hours) {
    const lines: string[] = [];
    // An object counts only with its record.
    for (const key of keys.filter(
      (name) => name.startsWith(`ledger-hours/${hour}`) && name.endsWith('.json'),
    )) {
      const { object } = JSON.parse((await view.read(key)).toString()) as { readonly object: string };
      lines.push(
        ...gunzipSync(await view.read(object))
          .toString()
          .trimEnd()
          .split('\n'),
      );
    }
    const distinct = new Set(lines).size;
    if (distinct !== expected) faults.lost.push(`${hour}: ${distinct} of ${expected} lines in merged hours`);
    if (lines.length > distinct)
      faults.double.push(`${hour}: ${lines.length - distinct} lines more than once in merged hours`);
  }
  return faults;
}
