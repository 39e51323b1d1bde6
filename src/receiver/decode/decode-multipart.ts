import { UndecodableError } from '../../content/decode-error.js';
import { PlannedItem } from '../../content/item-plan.js';
import type { PartHead } from '../../content/part-head.js';
import { partPlan } from '../../content/part-plan.js';
import { type PartShape, partShape } from '../../content/part-shape.js';
import type { ItemSink } from '../../domain/item.js';
import { BusboyParts } from './busboy-parts.js';
import type { ByteSource } from './byte-source.js';
import { DelimiterScanner, type MultipartToken } from './delimiter-scanner.js';

/** Streams every part of a form into the sink as a separate item. Throws UndecodableError when scanner and busboy disagree. */
export async function decodeMultipart(
  source: ByteSource,
  boundary: string,
  sink: ItemSink,
  maxParts: number,
): Promise<PartShape[]> {
  const scanner = new DelimiterScanner(boundary, maxParts);
  const form = new FormReader(sink);
  try {
    for (let chunk = await source.next(); chunk !== null; chunk = await source.next()) {
      for (const token of scanner.push(chunk)) {
        const waiting = form.take(token);
        if (waiting !== undefined) await waiting;
      }
    }
    for (const token of scanner.finish()) await form.take(token);
    return await form.finish();
  } finally {
    form.destroy();
  }
}

/** Passes the scanner's tokens into the sink, under what busboy reads in the header block of each part. */
class FormReader {
  readonly #sink: ItemSink;
  readonly #busboy = new BusboyParts();
  readonly #parts: PartShape[] = [];
  #open: { head: PartHead; item: PlannedItem } | null = null;

  constructor(sink: ItemSink) {
    this.#sink = sink;
  }

  /** Returns a promise only when the sink applies back-pressure, and at the end of a part. */
  take(token: MultipartToken): Promise<void> | undefined {
    if (token.type === 'data') return this.#current().item.write(token.bytes);
    if (token.type === 'end') return this.#end();
    this.#begin(token.block);
    return undefined;
  }

  async finish(): Promise<PartShape[]> {
    await this.#busboy.finish();
    return this.#parts;
  }

  destroy(): void {
    this.#busboy.destroy();
  }

  #begin(block: Buffer): void {
    const head = this.#busboy.begin(block);
    const details = head.fileName === undefined ? {} : { fileName: head.fileName };
    this.#open = { head, item: new PlannedItem(this.#sink, partPlan(head), details) };
  }

  async #end(): Promise<void> {
    const part = this.#current();
    this.#busboy.end();
    await part.item.end();
    this.#parts.push(partShape(part.head, part.item.bytes));
    this.#open = null;
  }

  #current() {
    if (this.#open === null) throw new UndecodableError('multipart-unaccounted', 'Content without a part.');
    return this.#open;
  }
}
