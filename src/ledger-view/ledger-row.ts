import { promisify } from 'node:util';
import { deflateRaw, inflateRawSync } from 'node:zlib';
import { type ParsedSegment, parseLine } from '../archive/ledger/ledger-text.js';
import type { LedgerLine } from '../domain/delivery.js';

/** What filters and charts need of a ledger line; the line itself stays packed with its neighbours. */
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
  readonly block: LineBlock;
  /** Place of the line in its block. */
  readonly index: number;
}

const deflateOffLoop = promisify(deflateRaw);

const LINES_PER_BLOCK = 64;

/**
 * Lines of one or many segments, deflated once there are enough of them: some 150 bytes a line instead of 800. By the
 * block and not by the segment, because a store that answers fast makes segments of a line or two, and what one of
 * them costs in buffers is a multiple of what it holds.
 */
export class LineBlock {
  /** The lines, or all of them deflated. */
  #content: string[] | Buffer = [];

  get isFull(): boolean {
    return Buffer.isBuffer(this.#content) || this.#content.length >= LINES_PER_BLOCK;
  }

  /** Takes a line and gives its place. Not to be called once the block is full. */
  add(text: string): number {
    if (Buffer.isBuffer(this.#content)) throw new Error('a packed block takes no more lines');
    const length = this.#content.push(text);
    if (length === LINES_PER_BLOCK) this.#pack(this.#content);
    return length - 1;
  }

  /** All lines in their order. */
  lines(): readonly string[] {
    if (!Buffer.isBuffer(this.#content)) return this.#content;
    return inflateRawSync(this.#content).toString().split('\n');
  }

  #pack(lines: readonly string[]): void {
    deflateOffLoop(Buffer.from(lines.join('\n')), { level: 1 }).then(
      (packed) => {
        // A copy of the right size and for itself: zlib's own buffer is a view into a far larger one, and one out of
        // Node's pool would keep eight kilobytes alive.
        const own = Buffer.allocUnsafeSlow(packed.length);
        packed.copy(own);
        this.#content = own;
      },
      // Left as it is: larger, not wrong.
      () => undefined,
    );
  }
}

/** Makes the rows of segments that were read, one after the other. */
export function createRowPacker(): (parsed: ParsedSegment) => LedgerRow[] {
  let block = new LineBlock();
  return ({ entries }) =>
    entries.map(({ line, text }) => {
      if (block.isFull) block = new LineBlock();
      return rowOf(line, block, block.add(text));
    });
}

function rowOf(line: LedgerLine, block: LineBlock, index: number): LedgerRow {
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
    block,
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

/** The ledger lines behind rows, in their order; a block is unpacked once for neighbours. */
export function linesOf(rows: readonly LedgerRow[]): LedgerLine[] {
  const unpacked = new Map<LineBlock, readonly string[]>();
  return rows.flatMap((row) => {
    let texts = unpacked.get(row.block);
    if (!texts) {
      texts = row.block.lines();
      unpacked.set(row.block, texts);
    }
    const line = parseLine(texts[row.index] ?? '');
    return line ? [line] : [];
  });
}
