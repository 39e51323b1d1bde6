/**
 * Deepest nesting accepted. JSON.parse has no limit; this one bounds the memory for a hostile `[[[[…`, one byte per level,
 * to 100 kB. Transcripts nest less than ten levels.
 */
export const MAX_JSON_DEPTH = 100_000;

// States between tokens: what the check expects next.
const BEGIN = 0;
const ROOT = 1;
const AFTER_ROOT = 2;
const FIRST_ELEMENT = 3;
const ELEMENT = 4;
const AFTER_ELEMENT = 5;
const FIRST_KEY = 6;
const KEY = 7;
const COLON = 8;
const MEMBER = 9;
const AFTER_MEMBER = 10;
// States within a number. It ends at the first byte that is not part of it.
const NUMBER_SIGN = 11;
const NUMBER_ZERO = 12;
const NUMBER_INTEGER = 13;
const NUMBER_POINT = 14;
const NUMBER_FRACTION = 15;
const NUMBER_E = 16;
const NUMBER_E_SIGN = 17;
const NUMBER_EXPONENT = 18;
// States within other tokens.
const STRING = 19;
const ESCAPE = 20;
const HEX = 21;
const LITERAL = 22;
const BOM = 23;
const FAILED = 24;
// Actions, in place of a next state.
const OPEN_OBJECT = 25;
const OPEN_ARRAY = 26;
const CLOSE = 27;
const END_NUMBER = 28;
/** Added to the first state of a number. */
const BEGIN_NUMBER = 32;

/** The state after a value, by the state in which it begins. */
const AFTER = [
  AFTER_ROOT,
  AFTER_ROOT,
  FAILED,
  AFTER_ELEMENT,
  AFTER_ELEMENT,
  FAILED,
  COLON,
  COLON,
  FAILED,
  AFTER_MEMBER,
  FAILED,
];

/** States in which a number may end. */
const ENDS_OF_NUMBERS = [NUMBER_ZERO, NUMBER_INTEGER, NUMBER_FRACTION, NUMBER_EXPONENT];

/** The next state or action, by byte and by state between tokens or within a number. */
const NEXT = nextStates();

function nextStates(): Uint8Array {
  const next = new Uint8Array(STRING << 8).fill(FAILED);
  const set = (state: number, bytes: string, result: number): void => {
    for (const byte of Buffer.from(bytes, 'latin1')) next[(state << 8) | byte] = result;
  };
  for (let state = BEGIN; state <= AFTER_MEMBER; state++)
    set(state, ' \t\n\r', state === BEGIN ? ROOT : state);
  for (const state of [BEGIN, ROOT, FIRST_ELEMENT, ELEMENT, MEMBER]) {
    set(state, '"', STRING);
    set(state, '{', OPEN_OBJECT);
    set(state, '[', OPEN_ARRAY);
    set(state, 'tfn', LITERAL);
    set(state, '-', BEGIN_NUMBER | NUMBER_SIGN);
    set(state, '0', BEGIN_NUMBER | NUMBER_ZERO);
    set(state, '123456789', BEGIN_NUMBER | NUMBER_INTEGER);
  }
  set(BEGIN, '\xef', BOM);
  set(FIRST_ELEMENT, ']', CLOSE);
  set(AFTER_ELEMENT, ']', CLOSE);
  set(AFTER_ELEMENT, ',', ELEMENT);
  set(FIRST_KEY, '}', CLOSE);
  set(AFTER_MEMBER, '}', CLOSE);
  set(AFTER_MEMBER, ',', KEY);
  set(FIRST_KEY, '"', STRING);
  set(KEY, '"', STRING);
  set(COLON, ':', MEMBER);
  for (const state of ENDS_OF_NUMBERS) next.fill(END_NUMBER, state << 8, (state + 1) << 8);
  set(NUMBER_SIGN, '0', NUMBER_ZERO);
  set(NUMBER_SIGN, '123456789', NUMBER_INTEGER);
  set(NUMBER_INTEGER, '0123456789', NUMBER_INTEGER);
  for (const state of [NUMBER_ZERO, NUMBER_INTEGER]) set(state, '.', NUMBER_POINT);
  for (const state of [NUMBER_POINT, NUMBER_FRACTION]) set(state, '0123456789', NUMBER_FRACTION);
  for (const state of [NUMBER_ZERO, NUMBER_INTEGER, NUMBER_FRACTION]) set(state, 'eE', NUMBER_E);
  set(NUMBER_E, '+-', NUMBER_E_SIGN);
  for (const state of [NUMBER_E, NUMBER_E_SIGN, NUMBER_EXPONENT]) set(state, '0123456789', NUMBER_EXPONENT);
  return next;
}

/** 1 for bytes that are neither quote, backslash nor control character. */
const PLAIN = new Uint8Array(256).map((_, byte) => (byte >= 0x20 && byte !== 0x22 && byte !== 0x5c ? 1 : 0));
const HEX_DIGIT = new Uint8Array(256).map((_, byte) =>
  /[0-9a-fA-F]/.test(String.fromCharCode(byte)) ? 1 : 0,
);
const ESCAPABLE = new Uint8Array(256).map((_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
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
  /** The state after the token that `#state` is within. */
  #after = AFTER_ROOT;
  /** The states after the open containers. From Node's pool: a separate array of 64 bytes takes three times its size. */
  #stack: Uint8Array = Buffer.allocUnsafe(64);
  #depth = 0;
  /** Progress within a BOM, a literal or four hex digits. */
  #step = 0;
  #literal: Buffer = EMPTY;
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
   * Checks the next bytes. Returns false as soon as the text cannot be JSON. One loop with a state table, which is several times as fast
   * as JSON.parse. Method calls for the frequent tokens would cost a fifth more.
   */
  push(chunk: Uint8Array): boolean {
    const { length } = chunk;
    let state = this.#state;
    let after = this.#after;
    let at = 0;
    while (at < length && state !== FAILED) {
      if (state < STRING) {
        const byte = chunk[at++] as number;
        const next = NEXT[(state << 8) | byte] as number;
        if (next < STRING) {
          state = next;
        } else if (next === END_NUMBER) {
          state = after;
          at--;
        } else if (next === CLOSE) {
          state = this.#stack[--this.#depth] as number;
        } else if (next === STRING && this.#depth > 1) {
          after = AFTER[state] as number;
          while (at < length && PLAIN[chunk[at] as number] === 1) at++;
          const isComplete = at < length && chunk[at] === QUOTE;
          if (isComplete) at++;
          state = isComplete ? after : STRING;
        } else {
          after = AFTER[state] as number;
          if (this.#depth === 1) this.#beginTopLevel(after, byte);
          if (next >= BEGIN_NUMBER) state = next - BEGIN_NUMBER;
          else state = next < OPEN_OBJECT ? next : this.#open(next, after);
          if (next === LITERAL) this.#literal = LITERALS[byte] ?? EMPTY;
          this.#step = 1;
        }
      } else if (state === STRING) {
        const from = at;
        while (at < length && PLAIN[chunk[at] as number] === 1) at++;
        const isTopKey = after === COLON && this.#depth === 1;
        if (isTopKey) this.#shape.pushKey(chunk, from, at);
        if (at === length) break;
        const byte = chunk[at++] as number;
        state = byte === QUOTE ? after : byte === BACKSLASH ? ESCAPE : FAILED;
        if (isTopKey && state === COLON) this.#shape.endKey();
        if (isTopKey && state === ESCAPE) this.#shape.pushKeyByte(byte);
      } else {
        state = this.#within(state, chunk[at++] as number, after);
      }
    }
    this.#state = state;
    this.#after = after;
    return state !== FAILED;
  }

  /** Whether the text is complete. */
  finish(): boolean {
    const state = this.#state;
    const endsNumber = ENDS_OF_NUMBERS.includes(state);
    this.#state = (endsNumber ? this.#after : state) === AFTER_ROOT ? AFTER_ROOT : FAILED;
    return this.#state === AFTER_ROOT;
  }

  #beginTopLevel(after: number, byte: number): void {
    if (after === COLON) this.#shape.beginKey();
    else this.#shape.beginValue(byte);
  }

  #open(what: number, after: number): number {
    if (this.#depth === MAX_JSON_DEPTH) return FAILED;
    if (this.#depth === this.#stack.length) {
      const larger = new Uint8Array(this.#stack.length * 2);
      larger.set(this.#stack);
      this.#stack = larger;
    }
    this.#stack[this.#depth++] = after;
    return what === OPEN_OBJECT ? FIRST_KEY : FIRST_ELEMENT;
  }

  /** The rarer states: inside a literal, an escape or a byte order mark. */
  #within(state: number, byte: number, after: number): number {
    switch (state) {
      case LITERAL:
        if (byte !== this.#literal[this.#step]) return FAILED;
        return ++this.#step === this.#literal.length ? after : LITERAL;
      case ESCAPE:
        this.#pushKeyByte(byte, after);
        if (byte === 0x75) this.#step = 0;
        return byte === 0x75 ? HEX : ESCAPABLE[byte] === 1 ? STRING : FAILED;
      case HEX:
        this.#pushKeyByte(byte, after);
        if (HEX_DIGIT[byte] !== 1) return FAILED;
        return ++this.#step === 4 ? STRING : HEX;
      default:
        if (byte !== (this.#step === 1 ? 0xbb : 0xbf)) return FAILED;
        return ++this.#step === 3 ? ROOT : BOM;
    }
  }

  #pushKeyByte(byte: number, after: number): void {
    if (after === COLON && this.#depth === 1) this.#shape.pushKeyByte(byte);
  }
}

const OTHER_KEY = 0;
const FORMAT_KEY = 1;
const RESULTS_KEY = 2;
/** `results` with each character escaped as \uXXXX. */
const MAX_ESCAPED = 42;

/**
 * Detects the members that distinguish a transcript in a JSON text's top-level object: a string `format` and an array
 * `results`. As in JSON.parse, escapes in keys are resolved, and the last of repeated keys counts.
 */
class TopLevelShape {
  formatIsString = false;
  resultsIsArray = false;
  /** The raw key, as long as it can still be one of the two. */
  readonly #key = Buffer.allocUnsafe(MAX_ESCAPED);
  #length = 0;
  #current = OTHER_KEY;

  beginKey(): void {
    this.#length = 0;
  }

  /** The next raw bytes of the key. */
  pushKey(chunk: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to && this.#length <= MAX_ESCAPED; at++) this.pushKeyByte(chunk[at] as number);
  }

  pushKeyByte(byte: number): void {
    if (this.#length < MAX_ESCAPED) this.#key[this.#length] = byte;
    this.#length++;
  }

  endKey(): void {
    const raw = this.#length > MAX_ESCAPED ? '' : this.#key.toString('latin1', 0, this.#length);
    const key = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
    this.#current = key === 'format' ? FORMAT_KEY : key === 'results' ? RESULTS_KEY : OTHER_KEY;
  }

  /** The first byte of a value at any depth. */
  beginValue(byte: number): void {
    if (this.#current === OTHER_KEY) return;
    if (this.#current === FORMAT_KEY) this.formatIsString = byte === 0x22;
    else this.resultsIsArray = byte === 0x5b;
    this.#current = OTHER_KEY;
  }
}
