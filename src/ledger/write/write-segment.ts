import { type ObjectStore, StoreError } from '../../store/object-store.js';
import { readToEnd } from '../../store/read-to-end.js';

/** A line of a segment. */
export interface SegmentLine {
  readonly text: string;
  /** Size of the text in UTF-8, with its line feed. */
  readonly bytes: number;
}

/** A segment that became durable. */
export interface SegmentInfo {
  readonly key: string;
  readonly lines: number;
  readonly bytes: number;
  readonly durationMs: number;
}

/** Writes the lines as one object, durable when it resolves. */
export async function writeSegment(
  store: ObjectStore,
  key: string,
  lines: readonly SegmentLine[],
): Promise<SegmentInfo> {
  const started = performance.now();
  const body = bytesOf(lines);
  // The name is unique, so that it can exist only by this write, whose response was lost. Compared, to be sure.
  if (!(await createSame(store, key, body, 'application/x-ndjson')))
    throw new StoreError('ledger', `${key} does not hold the bytes that were written`);
  return { key, lines: lines.length, bytes: body.length, durationMs: performance.now() - started };
}

/**
 * Creates an object that may be there already, because the response of an earlier call was lost or another process writes the same.
 * Resolves to whether it holds these bytes. Throws `StoreError`.
 */
async function createSame(
  store: ObjectStore,
  key: string,
  body: Buffer,
  contentType: string,
): Promise<boolean> {
  if ((await store.create(key, body, { contentType, metadata: {} })) === 'created') return true;
  const reading = await store.read(key);
  if (reading === null) return false;
  if (reading.info.size === body.length) return (await readToEnd(key, reading.body)).equals(body);
  reading.body.destroy();
  return false;
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
