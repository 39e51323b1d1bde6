import fc from 'fast-check';

const FIRST_SURROGATE = 0xd800;
const SURROGATES = 0x800;

/**
 * Any character of Unicode, as the unit of `fc.string`. fast-check's own unit `binary` has the same ones: to find out which special strings
 * it can make of them it lists all 1.1 million, which takes a second of CPU in each test file.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(0x10ffff - SURROGATES).map(
  (n) => String.fromCodePoint(n < FIRST_SURROGATE ? n : n + SURROGATES),
  (text) => {
    if (typeof text !== 'string' || [...text].length !== 1 || !text.isWellFormed())
      throw new Error('not one character');
    const code = text.codePointAt(0) ?? 0;
    return code < FIRST_SURROGATE ? code : code - SURROGATES;
  },
);
