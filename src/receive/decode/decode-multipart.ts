import { UndecodableError } from '../../archive/content/decode-error.js';
import { PlannedItem } from '../../archive/content/item-plan.js';
import type { PartHead } from '../../archive/content/part-head.js';
import { partPlan } from '../../archive/content/part-plan.js';
import { type PartShape, partShape } from '../../archive/content/part-shape.js';
import type { ItemSink } from '../../domain/item.js';
import { BusboyParts } from './busboy-parts.js';
import type { ByteSource } from './byte-source.js';
import { DelimiterScanner, type MultipartToken } from './delimiter-scanner.js';
import { plainPartHead } from './plain-part-head.js';

/** Streams every part of a form into the sink as a separate item. Throws UndecodableError when scanner and busboy disagree. */
export async function decodeMultipart(
  source: ByteSource,
  boundary: string,
  sink: ItemSink,
): Promise<PartShape[]> {
  const scanner = new DelimiterScanner(boundary);
  const form = new FormReader(sink);
  try {
    let chunk: Buffer | null;
    do {
      chunk = await source.next();
      if (chunk === null) scanner.finish();
      else scanner.push(chunk);
      for (let token = scanner.next(); token !== null; token = scanner.next()) await form.take(token);
    } while (chunk !== null);
    await form.finish();
    return form.parts;
  } finally {
    form.destroy();
  }
}

/** Passes the scanner's tokens into the sink, under what is read in the header block of each part. */
class FormReader {
  readonly parts: PartShape[] = [];
  readonly #sink: ItemSink;
  /** For header blocks that are not plain. */
  #busboy: BusboyParts | null = null;
  #head: PartHead | null = null;
  #item: PlannedItem | null = null;

  constructor(sink: ItemSink) {
    this.#sink = sink;
  }

  async take(token: MultipartToken): Promise<void> {
    if (token.type === 'head') return this.#begin(token.block);
    if (this.#item === null || this.#head === null)
      throw new UndecodableError('multipart-unaccounted', 'Content without a part.');
    return token.type === 'data' ? this.#item.write(token.bytes) : this.#end(this.#head, this.#item);
  }

  async finish(): Promise<void> {
    await this.#busboy?.finish();
  }

  destroy(): void {
    this.#busboy?.destroy();
  }

  #begin(block: Buffer): void {
    const head = plainPartHead(block) ?? this.#parse(block);
    this.#head = head;
    this.#item = new PlannedItem(this.#sink, partPlan(head), head);
  }

  async #end(head: PartHead, item: PlannedItem): Promise<void> {
    this.#item = null;
    this.parts.push(partShape(head, item.bytes));
    await item.end();
  }

  #parse(block: Buffer): PartHead {
    this.#busboy ??= new BusboyParts();
    return this.#busboy.parse(block);
  }
}
