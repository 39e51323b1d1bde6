import { UndecodableError } from '../../archive/content/decode-error.js';
import { boundaryOf, type MediaType } from '../../archive/content/media-type.js';
import type { PartHead } from '../../archive/content/part-head.js';
import { BusboyParts } from './busboy-parts.js';
import type { ByteSource } from './byte-source.js';
import { DelimiterScanner } from './delimiter-scanner.js';

/** Takes the content of a part in order; what it rejects with ends the form. */
export interface OpenPart {
  write(bytes: Buffer): Promise<void>;
  end(): Promise<void>;
}

/**
 * Reads a form part by part, no faster than each takes its content.
 *
 * @param open called with the head of each part when the one before has ended
 * @throws UndecodableError also when scanner and busboy disagree
 */
export async function decodeMultipart(
  source: ByteSource,
  boundary: string,
  open: (head: PartHead) => OpenPart,
): Promise<void> {
  const scanner = new DelimiterScanner(boundary);
  /** Parser for header blocks that are not plain. */
  let busboy: BusboyParts | null = null;
  let part: OpenPart | null = null;
  try {
    let chunk: Buffer | null;
    do {
      chunk = await source.next();
      if (chunk === null) scanner.finish();
      else scanner.push(chunk);
      for (let token = scanner.next(); token !== null; token = scanner.next()) {
        if (token.type === 'head') {
          const plain = plainPartHead(token.block);
          if (plain === null) busboy ??= new BusboyParts();
          part = open(plain ?? (busboy as BusboyParts).parse(token.block));
          continue;
        }
        if (part === null) throw new UndecodableError('multipart-unaccounted', 'Content without a part.');
        if (token.type === 'data') await part.write(token.bytes);
        else {
          await part.end();
          part = null;
        }
      }
    } while (chunk !== null);
    await busboy?.finish();
  } finally {
    busboy?.destroy();
  }
}

/** Throws UndecodableError for what is no form, or has no usable boundary. */
export function formBoundary(type: MediaType): string {
  if (type.essence !== 'multipart/form-data') {
    throw new UndecodableError('multipart-unsupported', 'Only multipart/form-data is understood.');
  }
  const boundary = boundaryOf(type);
  if (boundary === null) throw new UndecodableError('multipart-boundary', 'There is no usable boundary.');
  return boundary;
}

/** Longer blocks are left to busboy, which limits them. */
const MAX_BYTES = 1024;

/** Printable ASCII without quote and backslash. */
const NAME = '[ !#-[\\]-~]+';
/** The same without a slash, and without a dot as its first character. */
const FILE_NAME = '[ !#--0-[\\]-~][ !#-.0-[\\]-~]*';
const TYPE_LINE = 'content-type: ([!-~](?:[ -~]*[!-~])?)\r\n';
const PLAIN = new RegExp(
  `^(?:${TYPE_LINE})?content-disposition: form-data; name="(${NAME})"(?:; filename="(${FILE_NAME})")?\r\n(?:${TYPE_LINE})?$`,
  'i',
);

/**
 * Reads a header block that leaves nothing to interpret, as senders write it: a disposition with a name and perhaps a file
 * name, a type, all of it printable ASCII without escapes. Null for any other block.
 *
 * It saves busboy, whose streams cost more than the rest of the decoder. busboy reads the same in such a block
 * (test/unit/receive/decode/plain-part-head.test.ts).
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
