import { randomBytes } from 'node:crypto';
import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeTime } from 'ulid';
import { hourAt } from '../../../src/ledger/hours.js';
import { LEDGER_FOLDER } from '../../../src/ledger/ledger-keys.js';
import { segmentKey } from '../../../src/ledger/segment-key.js';

interface BurstOptions {
  readonly writer: string;
  readonly lines: number;
  /** The burst lies in this many milliseconds before now. */
  readonly withinMs: number;
  readonly now: number;
  /** Default 250. */
  readonly linesPerSegment?: number;
}

/**
 * Writes a worst-case ledger into a folder of the file store: every line has a context of its own, every tenth job
 * fails with a reason of 2 KB, and there are 5,000 sources.
 */
export async function writeBurst(folder: string, options: BurstOptions): Promise<void> {
  const { writer, lines, withinMs, now, linesPerSegment = 250 } = options;
  const folders = new Set<string>();
  const numbers = new Map<string, number>();
  for (let first = 0; first < lines; first += linesPerSegment) {
    const time = now - withinMs + Math.floor((first / lines) * withinMs);
    const hour = hourAt(time);
    const partition = LEDGER_FOLDER + hour;
    const number = (numbers.get(hour) ?? 0) + 1;
    numbers.set(hour, number);
    if (!folders.has(partition)) await mkdir(join(folder, partition), { recursive: true });
    folders.add(partition);
    const count = Math.min(linesPerSegment, lines - first);
    const texts = Array.from({ length: count }, (_, index) => JSON.stringify(burstLine(first + index, time)));
    const path = join(folder, segmentKey({ hour, writer, number }));
    await writeFile(path, `${texts.join('\n')}\n`);
    await utimes(path, time / 1000, time / 1000);
  }
}

function burstLine(number: number, time: number) {
  const jobId = `j${randomBytes(8).toString('hex')}`;
  const failed = number % 10 === 0;
  const line = {
    v: 1,
    deliveryId: `${encodeTime(time)}${String(number).padStart(16, '0')}`,
    receivedAt: new Date(time).toISOString(),
    origin: failed ? 'recovery' : 'callback',
    source: `source-${number % 5000}`,
    region: 'eu1',
    clientIp: '40.74.41.91',
    method: 'POST',
    jobId,
    status: 'success',
    credential: 'main',
    outcome: failed ? 'failed' : 'stored',
    reason: failed ? randomBytes(1000).toString('hex') : null,
    items: failed
      ? []
      : [
          {
            kind: 'transcript.json-v2',
            key: `jobs/${jobId}/transcript.json`,
            size: 10_240,
            sha256: randomBytes(32).toString('hex'),
            outcome: 'created',
          },
        ],
    bytes: 10_240,
    durationMs: 40.5,
    shape: { contentType: 'application/json', framing: 'sized' },
  };
  return { ...line, context: { call: randomBytes(12).toString('hex'), customer: `c${number}` } };
}
