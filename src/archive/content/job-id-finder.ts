const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY, COMMA, COLON] = [
  0x7b, 0x7d, 0x5b, 0x5d, 0x2c, 0x3a,
];

/** A job id has at most 64 characters, each possibly escaped as \uXXXX. */
const MAX_ESCAPED = 6 * 64;

/**
 * Finds the string `job.id`, which transcripts and job records have, in a streamed JSON text, and skips everything else. Uses bounded
 * memory. `JsonCheck` decides whether the text is valid JSON.
 */
export class JobIdFinder {
  /** Null until it is found. */
  id: string | null = null;

  #depth = 0;
  /** The last structural byte outside strings. */
  #last = 0;
  #inString = false;
  #escaped = false;
  #raw = '';
  /** The last key at each of the first two levels. */
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
    this.#raw = '';
  }

  #within(byte: number): void {
    if (byte === QUOTE && !this.#escaped) return this.#endString();
    this.#escaped = byte === BACKSLASH && !this.#escaped;
    const wanted = this.#depth === 1 || (this.#depth === 2 && this.#inJob);
    if (wanted && this.#raw.length <= MAX_ESCAPED) this.#raw += String.fromCharCode(byte);
  }

  #endString(): void {
    this.#inString = false;
    const isKey = this.#last === OPEN_OBJECT || this.#last === COMMA;
    if (this.#depth === 1 && isKey) this.#keys[0] = this.#raw;
    if (this.#depth !== 2 || !this.#inJob) return;
    if (isKey) this.#keys[1] = this.#raw;
    else if (this.#last === COLON && this.#keys[1] === 'id') this.id = unescaped(this.#raw);
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

/** Resolves escapes. Returns an invalid string unchanged, which is never a job id. */
function unescaped(raw: string): string {
  if (!raw.includes('\\')) return raw;
  try {
    return String(JSON.parse(`"${raw}"`));
  } catch {
    return raw;
  }
}
