import type { PartHead } from '../../archive/content/part-head.js';

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
