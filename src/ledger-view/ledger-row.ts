import { promisify } from 'node:util';
import { deflateRaw, inflateRawSync } from 'node:zlib';
import { type LedgerEntry, parseLine } from '../archive/ledger/parse-segment.js';
import type { LedgerLine } from '../domain/delivery.js';
import { contextHashes } from './context-hashes.js';

/** The fields of a ledger line that filters and charts need. The line itself stays compressed in its block. */
export interface LedgerRow {
  /** Time of receipt in milliseconds since the epoch. */
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
  /** Hashes of its values, which bounds the memory they take; null without any. */
  readonly context: readonly number[] | null;
  readonly block: LineBlock;
  /** Index of the line in its block. */
  readonly index: number;
}

const deflateOffLoop = promisify(deflateRaw);

const LINES_PER_BLOCK = 64;

/**
 * Lines of one or several segments, compressed once the block is full: some 150 bytes a line instead of 800. Blocks
 * instead of segments, because a fast store makes segments of a line or two, whose buffers cost a multiple of their
 * content.
 */
export class LineBlock {
  /** The lines, or all of them compressed. */
  #content: string[] | Buffer = [];

  get isFull(): boolean {
    return Buffer.isBuffer(this.#content) || this.#content.length >= LINES_PER_BLOCK;
  }

  /** Adds a line and returns its index. Must not be called once the block is full. */
  add(text: string): number {
    if (Buffer.isBuffer(this.#content)) throw new Error('the block is full');
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
        // A copy of the exact size, outside of Node's pool: zlib's buffer is a view into a far larger one, and a pooled
        // one would keep 8 KiB alive.
        const own = Buffer.allocUnsafeSlow(packed.length);
        packed.copy(own);
        this.#content = own;
      },
      // The lines stay uncompressed: larger, not wrong.
      () => undefined,
    );
  }
}

/** Makes rows of lines. Segments share blocks. */
export function createRowPacker(): (entries: readonly LedgerEntry[]) => LedgerRow[] {
  let block = new LineBlock();
  return (entries) =>
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
    context: contextHashes(line.context),
    block,
    index,
  };
}

const known = new Map<string, string>();
/** Far more than the usual values. Bounds the table against statuses that senders make up. */
const MAX_SHARED = 1000;

/** One copy of each recurring text instead of one copy per line. */
function shared(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const first = known.get(text);
  if (first !== undefined) return first;
  if (known.size < MAX_SHARED) known.set(text, text);
  return text;
}

/** The ledger lines of rows, in their order. Each block is decompressed once. */
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
