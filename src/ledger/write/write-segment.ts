import { buffer } from 'node:stream/consumers';
import { type ObjectStore, StoreError } from '../../store/object-store.js';

/** A line of a segment. */
export interface SegmentLine {
  readonly text: string;
  /** Of the text in UTF-8, with its line feed. */
  readonly bytes: number;
}

/** A segment that became durable. */
export interface SegmentInfo {
  readonly key: string;
  readonly lines: number;
  readonly bytes: number;
  readonly durationMs: number;
}

const HEADERS = { contentType: 'application/x-ndjson', metadata: {} } as const;

/** Writes the lines as one object, durable when it resolves. */
export async function writeSegment(
  store: ObjectStore,
  key: string,
  lines: readonly SegmentLine[],
): Promise<SegmentInfo> {
  const started = performance.now();
  const body = bytesOf(lines);
  // The name is unique, so that `exists` means that our own write succeeded and its response was lost. Compared, to be sure.
  if ((await store.create(key, body, HEADERS)) === 'exists') await confirm(store, key, body);
  return { key, lines: lines.length, bytes: body.length, durationMs: performance.now() - started };
}

/** Line by line: a text of all lines would be copied twice. */
function bytesOf(lines: readonly SegmentLine[]): Buffer {
  const body = Buffer.allocUnsafe(lines.reduce((sum, { bytes }) => sum + bytes, 0));
  let at = 0;
  for (const { text } of lines) {
    at += body.write(text, at);
    body[at] = LINE_FEED;
    at += 1;
  }
  return body;
}

const LINE_FEED = 0x0a;

async function confirm(store: ObjectStore, key: string, expected: Buffer): Promise<void> {
  const reading = await store.read(key);
  if (reading === null) throw new StoreError('ledger', `${key} is said to exist but cannot be read`);
  if (reading.info.size !== expected.length) {
    reading.body.destroy();
    throw new StoreError('ledger', `${key} holds other bytes than were written`);
  }
  const actual = await buffer(reading.body).catch((cause: unknown) => {
    throw new StoreError('ledger', `${key} could not be read back`, { cause });
  });
  if (!actual.equals(expected)) throw new StoreError('ledger', `${key} holds other bytes than were written`);
}
