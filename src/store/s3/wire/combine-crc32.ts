/** The polynomial of CRC-32, and x to the powers 0 and 8, with the lowest power in the highest bit. */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;
const X8 = 0x00800000;

/**
 * The CRC-32 of two concatenated byte strings, from their CRC-32s. zlib has it, but Node does not export it; a second CRC
 * over the bytes would cost more than a millisecond per MiB.
 *
 * @param length of the second in bytes
 */
export function combineCrc32(first: number, second: number, length: number): number {
  return (multiply(powerOfX8(length), first) ^ second) >>> 0;
}

/** Power by repeated squaring. */
function powerOfX8(exponent: number): number {
  let result = ONE;
  let square = X8;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) result = multiply(square, result);
    square = multiply(square, square);
  }
  return result;
}

/** Product of two polynomials over bits, modulo that of CRC-32. */
function multiply(a: number, b: number): number {
  let product = 0;
  let shifted = b;
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ POLYNOMIAL;
  }
  return product;
}
