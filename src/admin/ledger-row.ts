import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync, inflateRawSync } from 'node:zlib';
import { type ParsedSegment, parseLine } from '../archive/ledger-text.js';
import type { LedgerLine } from '../domain/delivery.js';

/** What filters and charts need of a ledger line; the line itself stays packed with its segment. */
export interface LedgerRow {
  /** Receipt in milliseconds since the epoch. */
  readonly time: number;
  readonly id: string;
  readonly job: string | null;
  readonly source: string | null;
  readonly region: string | null;
  readonly status: string | null;
  readonly outcome: string;
  readonly origin: string;
  readonly credential: string | null;
  readonly bytes: number;
  readonly durationMs: number;
  readonly segment: PackedSegment;
  /** Place of the line among the segment's readable ones. */
  readonly index: number;
}

/** The lines of a segment, deflated: some 150 bytes a line instead of 800. */
export interface PackedSegment {
  readonly packed: Buffer;
}

const deflateOffLoop = promisify(deflateRaw);
/** Deflating this much takes well under a millisecond; more goes to the thread pool. */
const SMALL = 32 * 1024;

/** Makes the rows of a segment that was read. */
export async function packRows(parsed: ParsedSegment): Promise<LedgerRow[]> {
  const text = Buffer.from(parsed.entries.map((entry) => entry.text).join('\n'));
  const level = { level: 1 };
  const packed = text.length <= SMALL ? deflateRawSync(text, level) : await deflateOffLoop(text, level);
  // A copy of the right size: zlib's own buffer is a view into a far larger one.
  const segment = { packed: Buffer.from(packed) };
  return parsed.entries.map(({ line }, index) => rowOf(line, segment, index));
}

function rowOf(line: LedgerLine, segment: PackedSegment, index: number): LedgerRow {
  return {
    time: Date.parse(line.receivedAt),
    id: line.deliveryId,
    job: line.jobId,
    source: shared(line.source),
    region: shared(line.region),
    status: shared(line.status),
    outcome: shared(line.outcome) ?? '',
    origin: shared(line.origin) ?? '',
    credential: shared(line.credential),
    bytes: Number(line.bytes) || 0,
    durationMs: Number(line.durationMs) || 0,
    segment,
    index,
  };
}

const known = new Map<string, string>();
/** Far more than honest values; keeps senders' made-up statuses from growing the table. */
const MAX_SHARED = 1000;

/** One copy of each recurring text instead of one per line. */
function shared(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const first = known.get(text);
  if (first !== undefined) return first;
  if (known.size < MAX_SHARED) known.set(text, text);
  return text;
}

/** The ledger lines behind rows, in their order; a segment is unpacked once for neighbours. */
export function linesOf(rows: readonly LedgerRow[]): LedgerLine[] {
  const unpacked = new Map<PackedSegment, string[]>();
  return rows.flatMap((row) => {
    let texts = unpacked.get(row.segment);
    if (!texts) {
      texts = inflateRawSync(row.segment.packed).toString().split('\n');
      unpacked.set(row.segment, texts);
    }
    const line = parseLine(texts[row.index] ?? '');
    return line ? [line] : [];
  });
}
