const OTHER_KEY = 0;
const FORMAT_KEY = 1;
const RESULTS_KEY = 2;
/** `results` with each character escaped as \uXXXX. */
const MAX_ESCAPED = 42;

/**
 * Detects the members that distinguish a transcript in a JSON text's top-level object: a string `format` and an array
 * `results`. As in JSON.parse, escapes in keys are resolved, and the last of repeated keys counts.
 */
export class TopLevelShape {
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

  /** The first byte of any value, at whatever depth. */
  beginValue(byte: number): void {
    if (this.#current === OTHER_KEY) return;
    if (this.#current === FORMAT_KEY) this.formatIsString = byte === 0x22;
    else this.resultsIsArray = byte === 0x5b;
    this.#current = OTHER_KEY;
  }
}
