const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA, COLON] = [
  0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a,
];

/** A job id has at most 64 characters, each of which may be spelt as \uXXXX. */
const LONGEST_SPELLING = 6 * 64;

/**
 * Finds the string `job.id` in a JSON text that streams by, as transcripts and job records hold it; everything
 * else is skipped. Bounded in memory. Whether the text is valid JSON is not judged here: `JsonCheck` does.
 */
export class JobIdFinder {
  /** Null until it was seen. */
  id: string | null = null;

  #depth = 0;
  /** The last byte outside strings that gives the next one its place. */
  #last = 0;
  #inString = false;
  #escaped = false;
  #spelling = '';
  /** Last string at each of the first two levels that stands where a key does. */
  readonly #keys: [string, string] = ['', ''];
  #inJob = false;

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && this.id === null; at += 1) {
      const byte = chunk[at] as number;
      if (this.#inString) this.#within(byte);
      else if (byte === QUOTE) this.#beginString();
      else if (byte > 0x20) this.#structure(byte);
    }
  }

  #beginString(): void {
    this.#inString = true;
    this.#spelling = '';
  }

  #within(byte: number): void {
    if (byte === QUOTE && !this.#escaped) return this.#endString();
    this.#escaped = byte === BACKSLASH && !this.#escaped;
    const wanted = this.#depth === 1 || (this.#depth === 2 && this.#inJob);
    if (wanted && this.#spelling.length <= LONGEST_SPELLING) this.#spelling += String.fromCharCode(byte);
  }

  #endString(): void {
    this.#inString = false;
    const isKey = this.#last === OPEN_OBJECT || this.#last === COMMA;
    if (this.#depth === 1 && isKey) this.#keys[0] = this.#spelling;
    if (this.#depth !== 2 || !this.#inJob) return;
    if (isKey) this.#keys[1] = this.#spelling;
    else if (this.#last === COLON && this.#keys[1] === 'id') this.id = meantBy(this.#spelling);
  }

  #structure(byte: number): void {
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      this.#depth += 1;
      if (this.#depth === 2) {
        this.#inJob = byte === OPEN_OBJECT && this.#last === COLON && this.#keys[0] === 'job';
      }
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) this.#depth -= 1;
    this.#last = byte;
  }
}

/** What a spelling with escapes stands for; what is no string stays as it is spelt, which no id is. */
function meantBy(spelling: string): string {
  if (!spelling.includes('\\')) return spelling;
  try {
    return String(JSON.parse(`"${spelling}"`));
  } catch {
    return spelling;
  }
}
