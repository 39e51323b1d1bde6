import type { ByteRange } from './file-checks.js';

/** Types of Thrift's compact protocol that a Parquet footer uses. */
const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const LAST_VARINT = 6;
const DOUBLE = 7;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

/** Footers nest structs and lists some eight deep. */
const MAX_DEPTH = 32;

/**
 * A row group takes some 830 values, a compacted file has up to 150 of them. Decoded, a value of a single byte
 * takes up to a hundred: without a bound a footer of megabytes would not fit into the heap.
 */
const MAX_VALUES = 500_000;

/** Where a list and its elements lie. */
export interface ThriftList extends ByteRange {
  readonly elements: readonly ByteRange[];
}

/**
 * Walks a struct of Thrift's compact protocol and throws unless all of it lies within the bytes. The decoder of hyparquet
 * makes arrays of the length that a list says it has: a few damaged bytes could ask for gigabytes.
 *
 * @returns the lists among the fields of the struct itself, in their order
 */
export function checkThriftBounds(bytes: Buffer): ThriftList[] {
  const lists: ThriftList[] = [];
  let offset = 0;
  let values = 0;

  function readByte(): number {
    const byte = bytes[offset];
    if (byte === undefined) throw new Error('its footer is truncated');
    offset += 1;
    return byte;
  }

  function readVarint(): number {
    let value = 0;
    for (let factor = 1; factor < 2 ** 70; factor *= 128) {
      const byte = readByte();
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    throw new Error('its footer has an endless number');
  }

  function skip(length: number): void {
    if (length > bytes.length - offset) throw new Error(`its footer says ${length} bytes follow`);
    offset += length;
  }

  function skipList(depth: number): void {
    const start = offset;
    const header = readByte();
    const type = header & 0x0f;
    const length = header >> 4 === 15 ? readVarint() : header >> 4;
    // Every element has a byte at least.
    if (length > bytes.length - offset) throw new Error(`its footer has a list of ${length} elements`);
    const isFlag = type === TRUE || type === FALSE;
    const elements: ByteRange[] = [];
    for (let index = 0; index < length; index += 1) {
      const first = offset;
      skipValue(isFlag ? BYTE : type, depth);
      if (depth === 1) elements.push({ start: first, end: offset });
    }
    if (depth === 1) lists.push({ start, end: offset, elements });
  }

  function skipStruct(depth: number): void {
    for (let header = readByte(); (header & 0x0f) !== 0; header = readByte()) {
      if (header >> 4 === 0) readVarint();
      skipValue(header & 0x0f, depth);
    }
  }

  function skipValue(type: number, depth: number): void {
    if (depth > MAX_DEPTH) throw new Error('its footer nests too deep');
    values += 1;
    if (values > MAX_VALUES) throw new Error(`its footer has more than ${MAX_VALUES} values`);
    if (type === TRUE || type === FALSE) return;
    if (type === BYTE) skip(1);
    else if (type > BYTE && type <= LAST_VARINT) readVarint();
    else if (type === DOUBLE) skip(8);
    else if (type === BINARY) skip(readVarint());
    else if (type === LIST) skipList(depth + 1);
    else if (type === STRUCT) skipStruct(depth + 1);
    else throw new Error(`its footer has a value of type ${type}`);
  }

  skipStruct(0);
  return lists;
}
