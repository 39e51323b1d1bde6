import { promisify } from 'node:util';
import { deflateRaw, inflateRawSync } from 'node:zlib';
import type { LedgerLine } from '../../../domain/delivery.js';
import { isReasonCode, type ReasonCode } from '../../../domain/reasons.js';
import type { LogEntry } from '../log/log-entry.js';
import type { FilterFields } from '../log/log-filter.js';
import type { LogPosition } from '../log/log-position.js';
import { contextHashes } from './context-hashes.js';

/** The fields of a ledger line that filters and charts need. The line itself stays compressed in its block. */
export interface LedgerRow extends LogPosition, FilterFields {
  /** Receipt, in milliseconds since the epoch. */
  readonly received: number;
  readonly credential: string | null;
  /** A code; null also for words of an operator or of the service. */
  readonly reason: ReasonCode | null;
  /** Whether an operator did it. */
  readonly isAct: boolean;
  readonly bytes: number;
  readonly durationMs: number;
  /** Hashes of its values, which bounds the memory they take; null without any. */
  readonly context: readonly number[] | null;
  readonly block: LineBlock;
  /** Index of the line in its block. */
  readonly index: number;
  /** Estimated bytes of memory that the row and its part of the block take. */
  readonly heldBytes: number;
}

const deflateOffLoop = promisify(deflateRaw);

const LINES_PER_BLOCK = 64;
/** A block with long lines is full earlier: until then its lines are not compressed. */
const MAX_BLOCK_LENGTH = 256 * 1024;

/**
 * Lines of one or several segments, compressed once the block is full: some 150 bytes a line instead of 800. Blocks
 * instead of segments, because a fast store makes segments of a line or two, whose buffers cost a multiple of their
 * content.
 */
class LineBlock {
  /** The lines, or all of them compressed. */
  #content: string[] | Buffer = [];
  #length = 0;
  #packing: Promise<void> | null = null;
  readonly #onPacked: (ratio: number) => void;

  /** @param onPacked called with the size of the compressed lines divided by their length */
  constructor(onPacked: (ratio: number) => void = () => undefined) {
    this.#onPacked = onPacked;
  }

  get isFull(): boolean {
    return this.#packing !== null;
  }

  /** Settles when the lines of a full block are compressed; at once for a block that is not full. */
  get packed(): Promise<void> {
    return this.#packing ?? Promise.resolve();
  }

  /** Adds a line and returns its index. Must not be called once the block is full. */
  add(text: string): number {
    if (Buffer.isBuffer(this.#content) || this.isFull) throw new Error('the block is full');
    const count = this.#content.push(text);
    this.#length += text.length;
    if (count === LINES_PER_BLOCK || this.#length >= MAX_BLOCK_LENGTH)
      this.#packing = this.#pack(this.#content);
    return count - 1;
  }

  /** All lines in their order. */
  lines(): readonly string[] {
    if (!Buffer.isBuffer(this.#content)) return this.#content;
    return inflateRawSync(this.#content).toString().split('\n');
  }

  #pack(lines: readonly string[]): Promise<void> {
    return deflateOffLoop(Buffer.from(lines.join('\n')), { level: 1 }).then(
      (packed) => {
        // A copy of the exact size, outside of Node's pool: zlib's buffer is a view into a far larger one, and a pooled
        // one would keep 8 KiB alive.
        const own = Buffer.allocUnsafeSlow(packed.length);
        packed.copy(own);
        this.#content = own;
        this.#onPacked(own.length / this.#length);
      },
      // The lines stay uncompressed: larger, not wrong.
      () => undefined,
    );
  }
}

/** Makes rows of lines. Segments share blocks. */
export function createRowPacker(): (entries: readonly LogEntry[]) => LedgerRow[] {
  /** What compression leaves of a line, by the block that was compressed last. */
  let ratio = 1;
  const newBlock = () =>
    new LineBlock((packed) => {
      ratio = packed;
    });
  let block = newBlock();
  return (entries) =>
    entries.map((entry) => {
      if (block.isFull) block = newBlock();
      const text = JSON.stringify(entry.line);
      return rowOf(entry, block, block.add(text), Math.ceil(text.length * ratio));
    });
}

/** The object, its numbers, its pointers in window and searches, and its part of a block, without texts and context. */
const ROW_BYTES = 304;
/** The head of a text of its own. */
const TEXT_BYTES = 24;

function bytesOfRow({ deliveryId, jobId, source, status, credential, context }: LedgerLine): number {
  const own = [deliveryId, jobId, ...[source, status, credential].filter((text) => !isShared(text))];
  const texts = own.reduce((sum, text) => sum + TEXT_BYTES + (text?.length ?? 0), 0);
  return ROW_BYTES + texts + (context ? 64 + 16 * Object.keys(context).length : 0);
}

function rowOf(entry: LogEntry, block: LineBlock, index: number, textBytes: number): LedgerRow {
  const { written, received, id, line } = entry;
  return {
    written,
    received,
    id,
    job: line.jobId,
    source: shared(line.source),
    region: shared(line.region),
    status: shared(line.status),
    outcome: shared(line.outcome) ?? '',
    origin: shared(line.origin) ?? '',
    credential: shared(line.credential),
    reason: isReasonCode(line.reason) ? line.reason : null,
    isAct: line.actor !== undefined,
    bytes: Number(line.bytes) || 0,
    durationMs: Number(line.durationMs) || 0,
    context: contextHashes(line.context, line.contextOmitted),
    block,
    index,
    heldBytes: textBytes + bytesOfRow(line),
  };
}

const known = new Map<string, string>();
/** Far more than the usual values. Bounds the table against statuses that senders make up. */
const MAX_SHARED = 1000;

function isShared(text: unknown): boolean {
  return typeof text !== 'string' || known.has(text);
}

/** One copy of each recurring text instead of one copy per line. */
function shared(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  const first = known.get(text);
  if (first !== undefined) return first;
  if (known.size < MAX_SHARED) known.set(text, text);
  return text;
}
