import { UndecodableError } from '../../archive/content/decode-error.js';
import { type PartShape, PlannedItem, partPlan, partShape } from '../../archive/content/item-plan.js';
import type { PartHead } from '../../archive/content/part-head.js';
import type { ItemSink } from '../../domain/item.js';
import { BusboyParts } from './busboy-parts.js';
import type { ByteSource } from './byte-source.js';
import { DelimiterScanner, type MultipartToken } from './delimiter-scanner.js';

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

/** Passes the content of the scanner's tokens into the sink, as the header block of each part describes it. */
class FormReader {
  readonly parts: PartShape[] = [];
  readonly #sink: ItemSink;
  /** Parser for header blocks that are not plain. */
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

/** Longer blocks are parsed by busboy, which limits them. */
const MAX_BYTES = 1024;

/** Printable ASCII without quote and backslash. */
const NAME = '[ !#-[\\]-~]+';
/** The same without a slash and without a leading dot. */
const FILE_NAME = '[ !#--0-[\\]-~][ !#-.0-[\\]-~]*';
const TYPE_LINE = 'content-type: ([!-~](?:[ -~]*[!-~])?)\r\n';
const PLAIN = new RegExp(
  `^(?:${TYPE_LINE})?content-disposition: form-data; name="(${NAME})"(?:; filename="(${FILE_NAME})")?\r\n(?:${TYPE_LINE})?$`,
  'i',
);

/**
 * Parses a header block without ambiguities, which is what senders write: a disposition with a name and perhaps a file
 * name, and a type, all in printable ASCII without escapes. Null for any other block.
 *
 * Avoids busboy, whose streams take 46 us for a form of three parts, where this takes 4: a fifth of the CPU of a callback (Node 24,
 * 2026-11-28). busboy returns the same for such a block (test/unit/receive/decode/plain-part-head.test.ts).
 *
 * @param block lines with their ends, without the blank line
 */
export function plainPartHead(block: Buffer): PartHead | null {
  if (block.length > MAX_BYTES) return null;
  const found = PLAIN.exec(block.toString('latin1'));
  if (found === null) return null;
  const [, typeBefore, name = '', fileName, typeAfter] = found;
  const contentType = typeBefore ?? typeAfter;
  return {
    name,
    ...(fileName === undefined ? undefined : { fileName }),
    ...(contentType === undefined ? undefined : { contentType }),
  };
}
