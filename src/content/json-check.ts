import { TopLevelShape } from './top-level-shape.js';

/**
 * Deepest nesting accepted. JSON.parse has no limit; this one bounds the memory for a hostile `[[[[…`, one byte per level,
 * to 100 kB. Transcripts nest less than ten levels.
 */
export const MAX_JSON_DEPTH = 100_000;

// States: what the check expects next.
const FAILED = -1;
const VALUE = 0;
const FIRST_ELEMENT = 1;
const FIRST_KEY = 2;
const NEXT_KEY = 3;
const COLON = 4;
const AFTER_VALUE = 5;
const STRING = 6;
const ESCAPE = 7;
const HEX = 8;
const LITERAL = 9;
const NUMBER_SIGN = 10;
const NUMBER_ZERO = 11;
const NUMBER_INTEGER = 12;
const NUMBER_POINT = 13;
const NUMBER_FRACTION = 14;
const NUMBER_E = 15;
const NUMBER_E_SIGN = 16;
const NUMBER_EXPONENT = 17;
const BEGIN = 18;
const BOM = 19;

const ARRAY = 0;
const OBJECT = 1;

/** 1 for bytes that are neither quote, backslash nor control character. */
const PLAIN = new Uint8Array(256).map((_, byte) => (byte >= 0x20 && byte !== 0x22 && byte !== 0x5c ? 1 : 0));
const HEX_DIGIT = new Uint8Array(256).map((_, byte) =>
  /[0-9a-fA-F]/.test(String.fromCharCode(byte)) ? 1 : 0,
);
const ESCAPABLE = new Uint8Array(256).map((_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);
const EMPTY = Buffer.alloc(0);
const LITERALS: Record<number, Buffer> = {
  116: Buffer.from('true'),
  102: Buffer.from('false'),
  110: Buffer.from('null'),
};

/**
 * Validates a JSON text as it streams, without building values and without recursion.
 *
 * Accepts what JSON.parse accepts of the UTF-8 decoded text up to MAX_JSON_DEPTH, and a byte order mark at the start. It also
 * finds out whether the top level is an object whose last `format` is a string and whose last `results` is an array, which
 * distinguishes a transcript from everything else.
 */
export class JsonCheck {
  #state = BEGIN;
  /** From Node's pool: a lone array of 64 bytes takes three times its size. */
  #stack: Uint8Array = Buffer.allocUnsafe(64);
  #depth = 0;
  /** Progress within a BOM, a literal or four hex digits. */
  #step = 0;
  #literal: Buffer = EMPTY;
  #inKey = false;
  readonly #shape = new TopLevelShape();

  get failed(): boolean {
    return this.#state === FAILED;
  }

  /** A string `format` and an array `results`, both at the top level. */
  get looksLikeTranscript(): boolean {
    return this.#shape.formatIsString && this.#shape.resultsIsArray;
  }

  /** One of the two has been found: the best guess while the text is incomplete. */
  get mayBeTranscript(): boolean {
    return !this.failed && (this.#shape.formatIsString || this.#shape.resultsIsArray);
  }

  /**
   * Checks the next bytes; false as soon as the text cannot be JSON. One loop over the bytes, the most frequent states of a
   * transcript first: several times as fast as JSON.parse.
   */
  push(chunk: Uint8Array): boolean {
    const length = chunk.length;
    let state = this.#state;
    if (state === FAILED) return false;
    let at = 0;
    while (at < length) {
      let byte = chunk[at] as number;
      if (state === STRING) {
        const from = at;
        while (PLAIN[byte] === 1 && ++at < length) byte = chunk[at] as number;
        if (this.#inKey && this.#depth === 1) this.#shape.pushKey(chunk, from, at);
        if (at === length) break;
        at++;
        if (byte === 0x22) {
          state = this.#closeString();
          // A colon nearly always follows; this saves an iteration.
          if (at < length && state === COLON && chunk[at] === 0x3a) {
            at++;
            state = VALUE;
          }
        } else if (byte === 0x5c) state = this.#escape(byte);
        else state = FAILED;
      } else if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
        at++;
        if (state > AFTER_VALUE) state = this.#spaceWithin(state);
      } else if (state === AFTER_VALUE) {
        at++;
        if (byte === 0x2c) {
          state = this.#comma();
          if (at < length && state === NEXT_KEY && chunk[at] === 0x22) {
            at++;
            state = this.#openKey();
          }
        } else if (byte === 0x5d) state = this.#close(ARRAY);
        else if (byte === 0x7d) state = this.#close(OBJECT);
        else state = FAILED;
      } else if (state === COLON) {
        at++;
        state = byte === 0x3a ? VALUE : FAILED;
      } else if (state === NEXT_KEY || state === FIRST_KEY) {
        at++;
        if (byte === 0x22) state = this.#openKey();
        else state = byte === 0x7d && state === FIRST_KEY ? this.#close(OBJECT) : FAILED;
      } else if (state === VALUE || state === FIRST_ELEMENT) {
        at++;
        state = this.#value(state, byte);
      } else if (state === NUMBER_INTEGER || state === NUMBER_FRACTION || state === NUMBER_EXPONENT) {
        while (byte >= 0x30 && byte <= 0x39 && ++at < length) byte = chunk[at] as number;
        if (at === length) break;
        state = afterDigits(state, byte);
        if (state !== AFTER_VALUE) at++;
      } else if (state === NUMBER_ZERO) {
        state = afterDigits(state, byte);
        if (state !== AFTER_VALUE) at++;
      } else {
        at++;
        state = this.#within(state, byte);
        if (state === BEGIN) {
          // No byte order mark: the byte already belongs to the value.
          at--;
          state = VALUE;
        }
      }
      if (state === FAILED) break;
    }
    this.#state = state;
    return state !== FAILED;
  }

  /** Whether the text is complete. */
  finish(): boolean {
    if (this.#state === NUMBER_ZERO || this.#state === NUMBER_INTEGER) this.#state = AFTER_VALUE;
    if (this.#state === NUMBER_FRACTION || this.#state === NUMBER_EXPONENT) this.#state = AFTER_VALUE;
    if (this.#state !== AFTER_VALUE || this.#depth !== 0) this.#state = FAILED;
    return this.#state !== FAILED;
  }

  #value(state: number, byte: number): number {
    this.#shape.beginValue(byte);
    if (byte === 0x22) return STRING;
    if (byte === 0x7b) return this.#open(OBJECT);
    if (byte === 0x5b) return this.#open(ARRAY);
    if (byte === 0x5d && state === FIRST_ELEMENT) return this.#close(ARRAY);
    if (byte >= 0x31 && byte <= 0x39) return NUMBER_INTEGER;
    if (byte === 0x30) return NUMBER_ZERO;
    if (byte === 0x2d) return NUMBER_SIGN;
    const literal = LITERALS[byte];
    if (literal === undefined) return FAILED;
    this.#literal = literal;
    this.#step = 1;
    return LITERAL;
  }

  /** The rarer states: inside a literal, an escape or the start of a number's parts, and at the very beginning. */
  #within(state: number, byte: number): number {
    switch (state) {
      case LITERAL:
        if (byte !== this.#literal[this.#step]) return FAILED;
        return ++this.#step === this.#literal.length ? AFTER_VALUE : LITERAL;
      case ESCAPE:
        this.#pushKeyByte(byte);
        if (byte === 0x75) this.#step = 0;
        return byte === 0x75 ? HEX : ESCAPABLE[byte] === 1 ? STRING : FAILED;
      case HEX:
        this.#pushKeyByte(byte);
        if (HEX_DIGIT[byte] !== 1) return FAILED;
        return ++this.#step === 4 ? STRING : HEX;
      case BEGIN:
        this.#step = 1;
        return byte === 0xef ? BOM : BEGIN;
      case BOM:
        if (byte !== (this.#step === 1 ? 0xbb : 0xbf)) return FAILED;
        return ++this.#step === 3 ? VALUE : BOM;
      default:
        return withinNumber(state, byte);
    }
  }

  /** White space ends a number, may precede the value, and is invalid anywhere else inside a token. */
  #spaceWithin(state: number): number {
    if (state === BEGIN) return VALUE;
    if (state === NUMBER_ZERO || state === NUMBER_INTEGER) return AFTER_VALUE;
    return state === NUMBER_FRACTION || state === NUMBER_EXPONENT ? AFTER_VALUE : FAILED;
  }

  #open(container: number): number {
    if (this.#depth === MAX_JSON_DEPTH) return FAILED;
    if (this.#depth + 1 === this.#stack.length) {
      const larger = new Uint8Array(this.#stack.length * 2);
      larger.set(this.#stack);
      this.#stack = larger;
    }
    this.#stack[++this.#depth] = container;
    return container === OBJECT ? FIRST_KEY : FIRST_ELEMENT;
  }

  #close(container: number): number {
    if (this.#depth === 0 || this.#stack[this.#depth] !== container) return FAILED;
    this.#depth--;
    return AFTER_VALUE;
  }

  #comma(): number {
    if (this.#depth === 0) return FAILED;
    return this.#stack[this.#depth] === OBJECT ? NEXT_KEY : VALUE;
  }

  #openKey(): number {
    this.#inKey = true;
    this.#shape.beginKey();
    return STRING;
  }

  #closeString(): number {
    if (!this.#inKey) return AFTER_VALUE;
    this.#inKey = false;
    if (this.#depth === 1) this.#shape.endKey();
    return COLON;
  }

  #escape(byte: number): number {
    this.#pushKeyByte(byte);
    return ESCAPE;
  }

  #pushKeyByte(byte: number): void {
    if (this.#inKey && this.#depth === 1) this.#shape.pushKeyByte(byte);
  }
}

/** The state after a complete run of digits: more of the number, or the end of the value. */
function afterDigits(state: number, byte: number): number {
  if (byte === 0x2e) return state === NUMBER_INTEGER || state === NUMBER_ZERO ? NUMBER_POINT : FAILED;
  if (byte === 0x65 || byte === 0x45) return state === NUMBER_EXPONENT ? FAILED : NUMBER_E;
  return AFTER_VALUE;
}

/** States of a number in which a digit must come next. */
function withinNumber(state: number, byte: number): number {
  const digit = byte >= 0x30 && byte <= 0x39;
  if (state === NUMBER_SIGN) return byte === 0x30 ? NUMBER_ZERO : digit ? NUMBER_INTEGER : FAILED;
  if (state === NUMBER_POINT) return digit ? NUMBER_FRACTION : FAILED;
  if (digit) return NUMBER_EXPONENT;
  return state === NUMBER_E && (byte === 0x2b || byte === 0x2d) ? NUMBER_E_SIGN : FAILED;
}
