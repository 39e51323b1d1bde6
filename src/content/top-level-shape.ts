const OTHER_KEY = 0;
const FORMAT_KEY = 1;
const RESULTS_KEY = 2;
/** `results` with each of its characters spelt as \uXXXX. */
const LONGEST_SPELLING = 42;

/**
 * Watches the members of a JSON text's top-level object for what tells a transcript from everything else:
 * a string `format` and an array `results`. As for JSON.parse, escapes in keys count as what they stand for,
 * and of repeated keys the last one.
 */
export class TopLevelShape {
  formatIsString = false;
  resultsIsArray = false;
  /** The key's raw spelling, as far as it can still be one of the two. */
  readonly #key = Buffer.allocUnsafe(LONGEST_SPELLING);
  #length = 0;
  #current = OTHER_KEY;

  beginKey(): void {
    this.#length = 0;
  }

  /** The next bytes of the key as it is spelt. */
  spell(chunk: Uint8Array, from: number, to: number): void {
    for (let at = from; at < to && this.#length <= LONGEST_SPELLING; at++)
      this.spellByte(chunk[at] as number);
  }

  spellByte(byte: number): void {
    if (this.#length < LONGEST_SPELLING) this.#key[this.#length] = byte;
    this.#length++;
  }

  endKey(): void {
    const raw = this.#length > LONGEST_SPELLING ? '' : this.#key.toString('latin1', 0, this.#length);
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
